use strict; use warnings; use utf8;
use SOAP::Transport::HTTP;
package Catalog;
sub made {
    my $i = shift;
    return { id => $i, name => "Item & <$i>", price => "$i.5", note => ($i % 2 ? undef : "n$i"),
             tags => [map { "t$_" } 1 .. $i % 3], owner => { name => 'Ann' } };
}
sub listItems {
    my ($class, $offset, $limit) = @_;
    my $last = $offset + $limit - 1; $last = 2344 if $last > 2344;
    return SOAP::Data->name(items => [map { made($_) } $offset .. $last]);
}
sub getItem {
    my ($class, $id) = @_;
    die SOAP::Fault->faultcode('Client.NotFound')->faultstring('no such item')
        ->faultdetail(SOAP::Data->name(UnknownItem => { id => $id })) if $id > 2344;
    return SOAP::Data->name(item => made($id));
}
sub addItem { my ($class, $item) = @_; $item->{id} = 9999; return SOAP::Data->name(item => $item); }
package main;
my $daemon = SOAP::Transport::HTTP::Daemon->new(LocalAddr => '127.0.0.1', LocalPort => 0)
    ->dispatch_with({'urn:catalog' => 'Catalog'})->on_action(sub {});
$| = 1;
my ($port) = $daemon->url =~ /:(\d+)/;
print "port $port\n";
$daemon->handle;
