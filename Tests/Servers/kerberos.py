"""kerberos.py FOLDER: a realm of its own on loopback, and a website that asks for its tickets (apache2, mod_auth_gssapi).

FOLDER gets krb5.conf, client.keytab (of ann) and site.keytab. Prints "port PORT PORT": that of the site whose path /api needs a
ticket, and that of a second site that logs what it is sent, into FOLDER/other.log. Ends with its input, and with it the
programs that it started. Needs Debian's krb5-kdc, krb5-admin-server, apache2 and libapache2-mod-auth-gssapi.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

from loopback import answers, free_ports

folder = pathlib.Path(sys.argv[1]).resolve()
os.environ["PATH"] += ":/usr/sbin:/sbin"
REALM = "BMO.TEST"

kdc, site, other = free_ports(3)
(folder / "krb5.conf").write_text(f"""[libdefaults]
default_realm = {REALM}
dns_lookup_kdc = false
dns_canonicalize_hostname = false
rdns = false
udp_preference_limit = 1
default_ccache_name = FILE:{folder}/cache
[realms]
{REALM} = {{
  kdc = 127.0.0.1:{kdc}
}}
[domain_realm]
localhost = {REALM}
""")
(folder / "kdc.conf").write_text(f"""[kdcdefaults]
kdc_listen = ""
kdc_tcp_listen = 127.0.0.1:{kdc}
[realms]
{REALM} = {{
  database_name = {folder}/principal
  key_stash_file = {folder}/stash
  acl_file = {folder}/kadm5.acl
  supported_enctypes = aes256-cts:normal
}}
[logging]
kdc = FILE:{folder}/kdc.log
""")
os.environ["KRB5_CONFIG"] = str(folder / "krb5.conf")
os.environ["KRB5_KDC_PROFILE"] = str(folder / "kdc.conf")


def run(*command):
    """Runs a program to its end."""
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=sys.stderr)


run("kdb5_util", "create", "-s", "-r", REALM, "-P", "master")
for query in (
    "addprinc -randkey ann", "addprinc -randkey HTTP/localhost", f"ktadd -k {folder}/client.keytab ann",
    f"ktadd -k {folder}/site.keytab HTTP/localhost",
):
    run("kadmin.local", "-r", REALM, "-q", query)

www = folder / "www"
(www / "api").mkdir(parents=True)
(www / "api" / "teams.json").write_text(json.dumps([{"id": 1, "name": "North"}, {"id": 2, "name": "South"}]))
(folder / "apache.conf").write_text(f"""ServerRoot {folder}
ServerName localhost
PidFile {folder}/apache.pid
ErrorLog {folder}/apache.log
Listen 127.0.0.1:{site}
Listen 127.0.0.1:{other}
""" + "".join(
    f"LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so\n"
    for name in ("mpm_event", "authn_core", "authz_core", "authz_user", "auth_gssapi", "mime", "alias", "log_config")
    if pathlib.Path(f"/usr/lib/apache2/modules/mod_{name}.so").exists()) + f"""
TypesConfig /dev/null
AddType application/json .json
DocumentRoot {www}
<Directory {www}>
  Require all granted
</Directory>
LogFormat "%U user=%u authorization=%{{Authorization}}i" sent
<VirtualHost 127.0.0.1:{site}>
  CustomLog {folder}/site.log sent
  Redirect /away http://localhost:{other}/api/teams.json
  <Location /api>
    AuthType GSSAPI
    AuthName bmo
    GssapiCredStore keytab:{folder}/site.keytab
    GssapiAllowedMech krb5
    Require user ann@{REALM}
  </Location>
  # A service whose keytab lacks its own key, as after a change of the password.
  <Location /stale>
    AuthType GSSAPI
    AuthName bmo
    GssapiCredStore keytab:{folder}/client.keytab
    Require valid-user
  </Location>
</VirtualHost>
<VirtualHost 127.0.0.1:{other}>
  CustomLog {folder}/other.log sent
</VirtualHost>
""")
# The service's replay cache.
os.environ["TMPDIR"] = str(folder)
# As root apache2 serves as another user, which cannot read a test's folder.
apache = ["apache2", "-X", "-f", str(folder / "apache.conf")]
if os.geteuid() == 0:
    subprocess.run(["chown", "-R", "nobody:nogroup", str(folder)], check=True)
    # Only folders of the tests: that of the system need not be opened for this.
    for parent in (folder, *folder.parents):
        if not parent.is_relative_to(tempfile.gettempdir()): continue
        if parent.stat().st_uid == os.geteuid() and parent != pathlib.Path("/") and not parent.stat().st_mode & 0o1:
            parent.chmod(parent.stat().st_mode | 0o111)
    apache = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", *apache]
children = [
    subprocess.Popen(["krb5kdc", "-n", "-r", REALM], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL),
    subprocess.Popen(apache, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL),
]


try:
    deadline = time.monotonic() + 30
    while not all(answers(port) for port in (kdc, site, other)):
        if time.monotonic() > deadline or any(child.poll() is not None for child in children):
            sys.exit("the servers did not start: " + (folder / "apache.log").read_text())
        time.sleep(0.02)
    print("port", site, other, flush=True)
    sys.stdin.read()
finally:
    for child in children:
        child.send_signal(signal.SIGTERM)
    for child in children:
        child.wait()
