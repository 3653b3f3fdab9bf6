<?php

declare(strict_types=1);

// A service that tells what changed since a time, for PHP's built-in server (php -S 127.0.0.1:PORT readings.php). Once the
// file that READINGS_SECOND names is there, it has a new reading and one that changed.

const WSDL = <<<'XML'
    <definitions name="Readings" targetNamespace="urn:readings" xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:t="urn:readings"
        xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/">
      <types><xs:schema targetNamespace="urn:readings" elementFormDefault="qualified">
        <xs:complexType name="Reading"><xs:sequence>
          <xs:element name="id" type="xs:int"/><xs:element name="value" type="xs:decimal"/>
          <xs:element name="changed" type="xs:dateTime"/>
        </xs:sequence></xs:complexType>
        <xs:element name="ListReadings"><xs:complexType><xs:sequence>
          <xs:element name="changedSince" type="xs:dateTime" minOccurs="0"/>
        </xs:sequence></xs:complexType></xs:element>
        <xs:element name="ListReadingsResponse"><xs:complexType><xs:sequence>
          <xs:element name="reading" type="t:Reading" minOccurs="0" maxOccurs="unbounded"/>
        </xs:sequence></xs:complexType></xs:element>
      </xs:schema></types>
      <message name="ListReadingsIn"><part name="parameters" element="t:ListReadings"/></message>
      <message name="ListReadingsOut"><part name="parameters" element="t:ListReadingsResponse"/></message>
      <portType name="Readings"><operation name="ListReadings">
        <input message="t:ListReadingsIn"/><output message="t:ListReadingsOut"/>
      </operation></portType>
      <binding name="Readings" type="t:Readings"><soap:binding transport="http://schemas.xmlsoap.org/soap/http"/>
        <operation name="ListReadings"><soap:operation soapAction="urn:readings/ListReadings"/>
          <input><soap:body use="literal"/></input><output><soap:body use="literal"/></output></operation>
      </binding>
      <service name="Readings"><port name="Readings" binding="t:Readings"><soap:address location="@ENDPOINT@"/></port></service>
    </definitions>
    XML;

const FIRST = [
    ['id' => 1, 'value' => '20.50', 'changed' => '2024-03-01T10:00:00Z'],
    ['id' => 2, 'value' => '19.75', 'changed' => '2024-03-01T11:30:00+01:00'],
    ['id' => 3, 'value' => '21.00', 'changed' => '2024-03-01T12:00:00Z'],
];
const SECOND = [
    ['id' => 1, 'value' => '20.50', 'changed' => '2024-03-01T10:00:00Z'],
    ['id' => 2, 'value' => '18.25', 'changed' => '2024-03-02T09:00:00Z'],
    ['id' => 3, 'value' => '21.00', 'changed' => '2024-03-01T12:00:00Z'],
    ['id' => 4, 'value' => '22.10', 'changed' => '2024-03-02T09:30:00Z'],
];

final class Readings
{
    public function ListReadings(object $request): array
    {
        $rows = is_file((string) getenv('READINGS_SECOND')) ? SECOND : FIRST;
        $since = isset($request->changedSince) ? strtotime($request->changedSince) : 0;
        return ['reading' => array_values(array_filter($rows, fn (array $row) => strtotime($row['changed']) >= $since))];
    }
}

$wsdl = str_replace('@ENDPOINT@', 'http://' . $_SERVER['HTTP_HOST'] . '/readings', WSDL);
header('Content-Type: text/xml; charset=utf-8');
if ($_SERVER['REQUEST_METHOD'] === 'GET') {
    echo $wsdl;
} else {
    $server = new SoapServer('data://text/xml;base64,' . base64_encode($wsdl), ['cache_wsdl' => WSDL_CACHE_NONE]);
    $server->setClass(Readings::class);
    $server->handle();
}
