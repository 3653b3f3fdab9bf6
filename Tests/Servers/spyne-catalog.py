import decimal, logging
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server
from spyne import Application, Boolean, ByteArray, ComplexModel, Decimal, Fault, Integer, ServiceBase, Unicode, rpc
from spyne.protocol.soap import Soap11, Soap12
from spyne.server.wsgi import WsgiApplication
from spyne.util.wsgi_wrapper import WsgiMounter

NS = 'urn:catalog'
COUNT = 10500
changed = {}

class Login(ComplexModel):
    __namespace__ = NS
    user = Unicode
    key = Unicode

class Item(ComplexModel):
    __namespace__ = NS
    id = Integer
    name = Unicode
    price = Decimal
    image = ByteArray
    note = Unicode(min_occurs=1, nillable=True)

class Book(Item):
    __namespace__ = NS
    pages = Integer

class Page(ComplexModel):
    __namespace__ = NS
    total = Integer
    items = Item.customize(max_occurs='unbounded', min_occurs=0)

def made(i):
    kind, more = (Book, {'pages': i * 10}) if i % 3 == 0 else (Item, {})
    return kind(id=i, name='Item & <%d> \u00e9' % i, price=decimal.Decimal('%d.50' % i),
                image=[b'\x00\xff%d' % i], note=None if i % 2 else 'n%d' % i, **more)

def check(ctx):
    if ctx.in_header is None or ctx.in_header.key != 'sesame':
        raise Fault('Client.Login', 'who are you?', detail={'Refused': 'true'})

def find(id):
    item = changed[id] if id in changed else made(id) if 0 <= id < COUNT else None
    if item is None:
        raise Fault('Client', 'no such item', detail={'UnknownItem': {'id': str(id)}})
    return item

class Catalog(ServiceBase):
    __in_header__ = Login

    @rpc(Integer, Integer, _returns=Page)
    def ListItems(ctx, offset, limit):
        check(ctx)
        return Page(total=COUNT, items=[made(i) for i in range(offset, min(COUNT, offset + limit))])

    @rpc(Integer, _returns=Item)
    def GetItem(ctx, id):
        check(ctx)
        return find(id)

    @rpc(Item, _returns=Item)
    def AddItem(ctx, item):
        check(ctx)
        item.id = 20000
        changed[20000] = item
        return item

    @rpc(Integer, Item, _returns=Item)
    def UpdateItem(ctx, id, item):
        check(ctx)
        find(id)
        item.id = id
        changed[id] = item
        return item

    @rpc(Integer, _returns=Boolean)
    def DeleteItem(ctx, id):
        check(ctx)
        find(id)
        changed[id] = None
        return True

def app(protocol):
    return WsgiApplication(Application(
        [Catalog], NS, name='Catalog', in_protocol=protocol(validator='lxml'), out_protocol=protocol(polymorphic=True)))

class Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True

class Handler(WSGIRequestHandler):
    def log_message(self, *args): pass

logging.disable(logging.CRITICAL)
server = make_server('127.0.0.1', 0, WsgiMounter({'v11': app(Soap11), 'v12': app(Soap12)}), Server, Handler)
print('port', server.server_address[1], flush=True)
server.serve_forever()
