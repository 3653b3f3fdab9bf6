import datetime, decimal, logging
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server
from spyne import (Application, Array, Boolean, ByteArray, ComplexModel, Date, DateTime, Decimal, Fault, Integer,
                   ServiceBase, Unicode, rpc)
from spyne.protocol.soap import Soap11, Soap12
from spyne.server.wsgi import WsgiApplication
from spyne.util.wsgi_wrapper import WsgiMounter

NS = 'urn:shop'
COUNT = 10000

class Login(ComplexModel):
    __namespace__ = NS
    user = Unicode
    key = Unicode

class Product(ComplexModel):
    __namespace__ = NS
    id = Integer
    name = Unicode
    price = Decimal
    made = Date
    changed = DateTime
    active = Boolean
    image = ByteArray
    tags = Array(Unicode)
    note = Unicode(min_occurs=1, nillable=True)

class Book(Product):
    __namespace__ = NS
    pages = Integer

class Page(ComplexModel):
    __namespace__ = NS
    total = Integer
    next = Unicode
    products = Product.customize(max_occurs='unbounded', min_occurs=0)

def product(i):
    kind, more = (Book, {'pages': i * 10}) if i % 3 == 0 else (Product, {})
    return kind(id=i, name='Product & <%d> \u00e9' % i, price=decimal.Decimal(i) / 4,
                made=datetime.date(2020, 1, 1) + datetime.timedelta(days=i % 365),
                changed=datetime.datetime(2021, 2, 3, 4, 5, 6), active=i % 2 == 0,
                image=[b'\x00\xff%d' % i], tags=['t%d' % j for j in range(i % 3)],
                note=None if i % 2 else 'n%d' % i, **more)

def check(ctx):
    if ctx.in_header is None or ctx.in_header.key != 'sesame':
        raise Fault('Client.Login', 'who are you?')

class Shop(ServiceBase):
    __in_header__ = Login

    @rpc(Integer, Integer, _returns=Page)
    def ListProducts(ctx, offset, limit):
        check(ctx)
        return Page(total=COUNT, products=[product(i) for i in range(offset, min(COUNT, offset + limit))])

    @rpc(Unicode, Integer, _returns=Page)
    def WalkProducts(ctx, locator, limit):
        check(ctx)
        start = int(locator) if locator else 0
        end = min(COUNT, start + limit)
        return Page(next=str(end) if end < COUNT else None, products=[product(i) for i in range(start, end)])

    @rpc(Integer, _returns=Product)
    def GetProduct(ctx, id):
        check(ctx)
        if id >= COUNT:
            raise Fault('Client.NotFound', 'no such product', detail={'UnknownProduct': {'id': str(id)}})
        return product(id)

def app(protocol):
    return WsgiApplication(Application(
        [Shop], NS, name='Shop', in_protocol=protocol(validator='lxml'), out_protocol=protocol(polymorphic=True)))

class Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True

class Handler(WSGIRequestHandler):
    def log_message(self, *args): pass

logging.disable(logging.CRITICAL)
server = make_server('127.0.0.1', 0, WsgiMounter({'v11': app(Soap11), 'v12': app(Soap12)}), Server, Handler)
print('port', server.server_address[1], flush=True)
server.serve_forever()
