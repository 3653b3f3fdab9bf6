import gzip, http.server, re, socketserver, urllib.parse
E11 = 'http://schemas.xmlsoap.org/soap/envelope/'
E12 = 'http://www.w3.org/2003/05/soap-envelope'
def env(body, e=E11): return '<s:Envelope xmlns:s="%s" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><s:Body>%s</s:Body></s:Envelope>' % (e, body)
def good(inner, e=E11): return env('<ListResponse xmlns="urn:s"><items>%s</items></ListResponse>' % inner, e)
XML = 'text/xml; charset=utf-8'
ITEM = '<item code="a"><id>1</id><name>Zoë</name></item>'
MTOM = 'multipart/related; type="application/xop+xml"; boundary="b"'
def exchange(body, mode):
    """A page of eight items as Exchange sends it: the mode names the attributes of the folder, and what else differs."""
    offset = re.search(r'Offset>(\d+)<', body)
    start = int(offset.group(1)) if offset else 0
    end = 8 if 'whole' in mode else min(8, start + 5)
    kinds = ['CalendarItem', 'Message'] if 'mixed' in mode else ['Message']
    items = ''.join('<%s><Id n="%d">%d</Id></%s>' % (kind, i, i, kind) for i in range(start, end) for kind in [kinds[i % len(kinds)]])
    def message(total, last):
        total = ' TotalItemsInView="%d"' % total if 'total' in mode else ''
        last = ' IncludesLastItemInRange="%s"' % str(last).lower() if 'flag' in mode else ''
        return ('<Message ResponseClass="Success"><ResponseCode>NoError</ResponseCode><RootFolder%s%s><Items>%s</Items></RootFolder>'
            '</Message>' % (total, last, items))
    messages = message(10 if 'ten' in mode else 5, end == 8) + message(10 if 'ten' in mode else 5, True) if 'two' in mode else message(8, end == 8)
    if 'error' in mode:
        messages = ('<Message ResponseClass="Error"><MessageText>The server cannot service this request right now.</MessageText>'
            '<ResponseCode>ErrorServerBusy</ResponseCode></Message>')
    return 200, XML, env('<FindResponse xmlns="urn:s"><Messages>%s</Messages></FindResponse>' % messages)
def leads(body, mode):
    members = {'money': '<total>12.00</total>',
        'token': '<nextPageToken>abc</nextPageToken><Response_Results><Total_Results>1</Total_Results></Response_Results>',
        'remainingparts': '<remainingCount>5</remainingCount><remainingCount>0</remainingCount>', 'remaining': '<remainingCount>3</remainingCount>', 'last': '<remainingCount>0</remainingCount>',
        'nested': '<Response_Results><Total_Results>4</Total_Results></Response_Results>',
        'yes': '<hasMore>Y</hasMore>', 'decimal': '<totalCount>4.00</totalCount>',
        'nestedlast': '<Response_Results><Total_Results>1</Total_Results></Response_Results>'}
    return 200, XML, env('<LeadsResponse xmlns="urn:s">%s<lead><Id>1</Id></lead></LeadsResponse>' % members[mode])
def many(body, mode):
    """A part of COUNT leads, CAP at most, beside another element: CAP,COUNT,NAME=VALUE. A fault stands behind the last, if asked for."""
    cap, count, rest = mode.split(',', 2)
    number = lambda name, other: int((re.search(name + r'>(\d+)<', body) or [0, other])[1])
    start = 0 if rest == 'stuck' else number('offset', 0)
    end = min(int(count), start + min(int(cap), number('limit', 1 << 30)))
    if rest.startswith('fault') and start >= int(count):
        code = 's:Server' if rest == 'faultserver' else 's:Client'
        return 503 if rest == 'faultserver' else 500, XML, env('<s:Fault><faultcode>%s</faultcode><faultstring>no such page</faultstring></s:Fault>' % code)
    leads = ''.join('<lead><Id>%d</Id></lead>' % i for i in range(start, end))
    names, _, value = rest.partition('=')
    other = value and ''.join('<%s>' % name for name in names.split('/')) + value + ''.join('</%s>' % name for name in names.split('/')[::-1])
    return 200, XML, env('<LeadsResponse xmlns="urn:s">%s%s</LeadsResponse>' % (other, leads))
def rows(body, mode):
    position = ' ListItemCollectionPositionNext="%s"' % {'next': 'Paged=TRUE&amp;p_ID=1', 'end': '', 'zero': '0'}[mode]
    return 200, XML, env('<RowsResponse xmlns="urn:s"><RowsResult><data ItemCount="1"%s><row Id="a"/></data></RowsResult></RowsResponse>' % position)
def change(body, mode):
    if mode.isdigit(): return int(mode), 'text/html', '<html><body>error</body></html>'
    replies = {'false': '<result><id>1</id><success>false</success><errors><message>is locked</message></errors></result>',
        'true': '<result><id>1</id><success>true</success><errors/></result>', 'attribute': '<status isSuccess="false"/>',
        'returned': '<ChangeResult>false</ChangeResult>', 'fine': '<ChangeResult>true</ChangeResult>',
        'sap': '<RETURN><item><TYPE>E</TYPE><MESSAGE>is locked</MESSAGE></item></RETURN>', 'nothing': '',
        'sharepoint': '<ChangeResult><Results><Result ID="1,Update"><ErrorCode>0x81020016</ErrorCode><ErrorText>Item does not exist'
            '</ErrorText></Result></Results></ChangeResult>',
        'zero': '<ChangeResult><Results><Result ID="1,Update"><ErrorCode>0x00000000</ErrorCode></Result></Results></ChangeResult>',
        'marketing': '<Results><StatusCode>Error</StatusCode><StatusMessage>locked</StatusMessage><ErrorCode>2</ErrorCode></Results>'
            '<OverallStatus>Error</OverallStatus>',
        'text': '<ChangeResult>Error: locked</ChangeResult>', 'return': '<return>ERROR</return>',
        'note': '<note><id>1</id><success>false</success></note>',
        'notes': '<note><id>1</id></note><note><id>2</id></note>'}
    return 200, XML, env('<ChangeResponse xmlns="urn:s">%s</ChangeResponse>' % replies[mode])
DYNAMIC = {'change': change, 'exchange': exchange, 'leads': leads, 'many': many, 'rows': rows}
REPLIES = {
    'good': (200, XML, good(ITEM)),
    'latin': (200, 'text/xml', ('<?xml version="1.0" encoding="ISO-8859-1"?>' + good(ITEM)).encode('latin-1')),
    'latinheader': (200, 'text/xml; charset=ISO-8859-1', good(ITEM).encode('latin-1')),
    'utf16': (200, 'text/xml', ('\ufeff<?xml version="1.0" encoding="UTF-16"?>' + good(ITEM)).encode('utf-16-le')),
    'utf16be': (200, 'text/xml; charset=utf-16', ('\ufeff<?xml version="1.0"?>' + good(ITEM)).encode('utf-16-be')),
    'bom': (200, XML, '\ufeff' + good(ITEM)),
    'text': (200, XML, good('<item><id>1</id><name><![CDATA[<b>]]>&amp;&#x263A;&#65;<![CDATA[]]]]><![CDATA[>]]></name></item>')),
    'default': (200, XML, env('<a:ListResponse xmlns:a="urn:s"><items xmlns="urn:s"><item code="a"><id>1</id>'
        '<name xmlns="urn:s">n</name></item><x:item xmlns:x="urn:s"><x:id>2</x:id></x:item></items></a:ListResponse>')),
    'nilrecord': (200, XML, good('<item xsi:nil="true"/>' + ITEM)),
    'onlynil': (200, XML, good('<item xsi:nil="true"/>')),
    'missing': (200, XML, env('<ListResponse xmlns="urn:s"/>')),
    'nillist': (200, XML, env('<ListResponse xmlns="urn:s"><items xsi:nil="1"/></ListResponse>')),
    'emptylist': (200, XML, good('')),
    'failed': (200, XML, env('<ListResponse xmlns="urn:s"><success>false</success><message>database down</message></ListResponse>')),
    'failedpart': (200, XML, env('<ListResponse xmlns="urn:s"><items>%s</items><success> 0 </success></ListResponse>' % ITEM)),
    'errorcode': (200, XML, env('<ListResponse xmlns="urn:s"><items/><errorCode>E17</errorCode><message>late</message></ListResponse>')),
    'errorobject': (200, XML, env('<ListResponse xmlns="urn:s"><items/><error><code>17</code><text>x</text></error></ListResponse>')),
    'succeeded': (200, XML, env('<ListResponse xmlns="urn:s"><items/><success>true</success><errorCode>000</errorCode>'
        '<message>none found</message></ListResponse>')),
    'busy': (200, XML, env('<ListResponse xmlns="urn:s"><messages><message kind="Error"><text>too busy</text></message></messages></ListResponse>')),
    'nofolder': (200, XML, env('<ListResponse xmlns="urn:s"><messages><message/></messages></ListResponse>')),
    'nofolderok': (200, XML, env('<ListResponse xmlns="urn:s"><messages><message><text/></message></messages></ListResponse>')),
    'nofoldersuccess': (200, XML, env('<ListResponse xmlns="urn:s"><success>true</success><messages><message><text>none</text></message>'
        '</messages></ListResponse>')),
    'emptyfolder': (200, XML, env('<ListResponse xmlns="urn:s"><messages><message kind="Success"><text>none</text><folder/></message>'
        '</messages></ListResponse>')),
    'ids': (200, XML, env('<ListResponse xmlns="urn:s" version="2.1"><requestId>a7-fail-5</requestId><server>web 3 (eu)</server>'
        '<at>2026-11-28T09:00:00Z</at><unknown>17</unknown><messages><message id="4"/></messages></ListResponse>')),
    'nonefound': (200, XML, env('<ListResponse xmlns="urn:s"><message>No records found for your request.</message></ListResponse>')),
    'errormessage': (200, XML, env('<ListResponse xmlns="urn:s"><header><errorMessage>%s</errorMessage></header><items/></ListResponse>')),
    'resultcode': (200, XML, env('<ListResponse xmlns="urn:s"><header><resultCode>%s</resultCode></header></ListResponse>')),
    'overall': (200, XML, env('<ListResponse xmlns="urn:s"><header><OverallStatus>%s</OverallStatus></header><items/></ListResponse>')),
    'code': (200, XML, env('<ListResponse xmlns="urn:s"><status>%s</status><message>Node 4 has answered</message></ListResponse>')),
    'nested': (200, XML, env('<ListResponse xmlns="urn:s"><header><success>false</success></header></ListResponse>')),
    'nestederror': (200, XML, env('<ListResponse xmlns="urn:s"><header><errors><string>E931</string></errors></header><items/></ListResponse>')),
    'downmessage': (200, XML, env('<ListResponse xmlns="urn:s"><items/><message>Error: no connection to the database</message></ListResponse>')),
    'sap': (200, XML, env('<ListResponse xmlns="urn:s"><header><RETURN><item><TYPE>%s</TYPE><MESSAGE>No authorization</MESSAGE></item></RETURN>'
        '</header><items/></ListResponse>')),
    'down': (200, XML, env('<ListResponse xmlns="urn:s"><message>Database unavailable</message></ListResponse>')),
    'stranger': (200, XML, env('<ListResponse xmlns="urn:s"><note>closed for maintenance</note></ListResponse>')),
    'halffailed': (200, XML, env('<ListResponse xmlns="urn:s"><messages><message><folder><items><item><id>1</id></item></items></folder>'
        '</message><message responseClass="Error"><text>late</text></message></messages></ListResponse>')),
    'errorclass': (200, XML, env('<ListResponse xmlns="urn:s" responseClass="Error"><items/><message>late</message></ListResponse>')),
    'okclass': (200, XML, env('<ListResponse xmlns="urn:s" responseClass="Completed"><items/></ListResponse>')),
    'hex': (200, XML, good('<item><id>1</id><hex>0aF</hex></item><item hexes="0A"><id>2</id><hex> 0aFf </hex></item>'
        '<item hexes="xy"><id>3</id></item>')),
    'emptyrecord': (200, XML, good('<item/>')),
    'choice': (200, XML, good('<item><id>1</id><red>a</red><blue>1</blue><red>b</red><row><cell>1</cell><cell>2</cell></row><row/><row><cell>3</cell></row></item>')),
    'gzip': (200, XML, gzip.compress(good(ITEM).encode())),
    'accepted': (202, XML, b''),
    'nocontent': (204, XML, b''),
    'otherversion': (500, XML, env('<s:Fault><faultcode>s:VersionMismatch</faultcode><faultstring>speak 1.1</faultstring></s:Fault>')),
    'unsupported': (415, 'text/plain', b''),
    'page': (200, 'text/html', '<!DOCTYPE html><html><head><title>Sign in</title></head><body>no</body></html>'),
    'noroot': (200, MTOM + '; start="<nowhere>"', ('--b\r\nContent-ID: <x>\r\nContent-Type: application/xop+xml\r\n\r\n%s\r\n--b--' % good(ITEM))),
    'renamed': (200, XML, good('<other><id>1</id></other><other><id>2</id></other>')),
    'renamedtwo': (200, XML, good('<other><id>1</id></other><other><id>2</id></other><more><id>3</id></more>')),
    'summaryfirst': (200, XML, good('<summary>2</summary><other><id>1</id></other><other><id>2</id></other>')),
    'summaryonly': (200, XML, good('<summary>2</summary>')),
    'infofirst': (200, XML, good('<info><id>0</id></info><other><id>1</id></other>')),
    'plainbeside': (200, XML, good('<item><id>1</id></item><summary>1</summary>')),
    'beside': (200, XML, good('<item><id>1</id></item><removed><id>3</id></removed><item><id>2</id></item><summary><id>0</id></summary>')),
    'nilresponse': (200, XML, env('<ListResponse xmlns="urn:s" xsi:nil="true"/>')),
    'strangers': (200, XML, env('<ListResponse xmlns="urn:s"><entries><entry/></entries></ListResponse>')),
    'declared12': (200, 'application/soap+xml; charset=utf-8', good(ITEM, E12)),
    'faultpage': (500, 'text/html', env('<s:Fault><faultcode>s:Server.Busy</faultcode><faultstring>no disk</faultstring></s:Fault>')),
    'otherenvelope': (200, XML, good(ITEM, 'urn:nonsense')),
    'cut': (200, XML, good(ITEM)[:-90]),
    'twice': (200, XML, good(ITEM) + good(ITEM)),
    'outer': (200, XML, '<html><body>down</body></html>'),
    'refs': (200, XML, env('<ListResponse xmlns="urn:s"><items href="#l"/></ListResponse><multiRef id="l"><item href="#i"/></multiRef>'
        '<multiRef id="i"><id href="#n"/><name>n</name></multiRef><multiRef id="n">7</multiRef>')),
}
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def log_message(self, *args): pass
    def do_POST(self):
        body = self.rfile.read(int(self.headers['Content-Length'])).decode()
        name, _, value = urllib.parse.unquote(self.path[1:]).partition('?')
        if name in DYNAMIC:
            status, kind, data = DYNAMIC[name](body, value)
        else:
            status, kind, data = REPLIES[name]
            if value: data = data % value
        if isinstance(data, str): data = data.encode()
        self.send_response(status)
        self.send_header('Content-Type', kind)
        if self.path == '/gzip': self.send_header('Content-Encoding', 'gzip')
        if status != 204: self.send_header('Content-Length', str(len(data)))
        self.end_headers()
        self.wfile.write(data)
class Server(socketserver.ThreadingMixIn, http.server.HTTPServer): daemon_threads = True
server = Server(('127.0.0.1', 0), Handler)
print('port', server.server_address[1], flush=True)
server.serve_forever()
