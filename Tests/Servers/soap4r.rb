require 'logger-application'
gem 'soap4r-ruby1.9'
require 'soap/rpc/standaloneServer'
require 'soap/mapping'
# REXML 3.3 loses the first bytes of a document whose encoding is set; soap4r 2.0.5 sets it. Ours are in UTF-8.
class XSD::XMLParser::REXMLParser
  def do_parse(text)
    @charset = 'utf-8'
    REXML::Document.parse_stream(text, self)
  end
end
class Item
  attr_accessor :id, :name, :price, :note
  def initialize(id = 0, name = '', price = 0.0, note = nil) = (@id, @name, @price, @note = id, name, price, note)
end
class Page
  attr_accessor :total, :items
  def initialize(total = 0, items = []) = (@total, @items = total, items)
end
class Catalog < SOAP::RPC::StandaloneServer
  REGISTRY = SOAP::Mapping::Registry.new
  [Item, Page].each do |type|
    REGISTRY.add(type, SOAP::SOAPStruct, SOAP::Mapping::Registry::TypedStructFactory,
                 { :type => XSD::QName.new('urn:catalog', type.name) })
  end
  def on_init
    @rows = (0...2345).map { |i| [i, Item.new(i, "Item & <#{i}> é", i + 0.5, i.odd? ? nil : "n#{i}")] }.to_h
    self.mapping_registry = REGISTRY
    add_method(self, 'listItems', 'offset', 'limit')
    add_method(self, 'getItem', 'id')
    add_method(self, 'addItem', 'item')
    add_method(self, 'deleteItem', 'id')
  end
  def listItems(offset, limit) = Page.new(@rows.size, @rows.keys.sort[offset, limit].to_a.map { |key| @rows[key] })
  def getItem(id) = @rows[id] || raise(ArgumentError, 'no such item')
  def addItem(item)
    item.id = @rows.keys.max + 1
    @rows[item.id] = item
  end
  def deleteItem(id) = !@rows.delete(id).nil?
end
server = Catalog.new('Catalog', 'urn:catalog', '127.0.0.1', 0)
$stdout.sync = true
puts "port #{server.server.listeners[0].addr[1]}"
server.start
