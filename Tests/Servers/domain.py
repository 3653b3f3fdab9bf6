"""domain.py FOLDER: an Active Directory domain of its own on loopback, with a share that only its users may open (Samba).

FOLDER gets krb5.conf, ann.keytab, hosts and the share's folder, share. Prints "port PORT PORT": that of the share data of the server
dc.bmo.test, and that of the Kerberos server. The domain's user ann has the password Secret-1234. The name dc.bmo.test is known only
where hosts is mounted on /etc/hosts: Kerberos has tickets for names, not for addresses.

Needs root, Debian's samba-ad-dc, samba-ad-provision and winbind, and namespaces of its own, with which all its programs end:

    unshare --mount --pid --fork --mount-proc --kill-child python3 domain.py FOLDER
"""

import os
import pathlib
import subprocess
import sys
import time

from loopback import answers, free_ports

folder = pathlib.Path(sys.argv[1]).resolve()
os.environ["PATH"] += ":/usr/sbin:/sbin"
REALM = "BMO.TEST"


def run(*command):
    """Runs a program to its end."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{command[0]} {command[1]} failed: {done.stdout[-2000:]}{done.stderr[-2000:]}")


smb, kdc, passwords = free_ports(3)
domain, share, settings = folder / "domain", folder / "share", folder / "domain" / "etc" / "smb.conf"
# The sockets of winbindd are at a fixed place, where another one may run.
pathlib.Path("/run/samba").mkdir(exist_ok=True)
run("mount", "-t", "tmpfs", "tmpfs", "/run/samba")
pathlib.Path("/run/samba/ncalrpc").mkdir()
# Otherwise the settings of this machine would be copied.
(folder / "none.conf").write_text("[global]\n")
run(
    "samba-tool", "domain", "provision", "--configfile", str(folder / "none.conf"), f"--realm={REALM}", "--domain=BMO",
    "--server-role=dc", "--dns-backend=NONE", "--adminpass=Passw0rd!", f"--targetdir={domain}", "--host-name=dc", "--host-ip=127.0.0.1")
settings.write_text(f"""[global]
server role = active directory domain controller
server services = s3fs, kdc, winbindd
realm = {REALM}
workgroup = BMO
netbios name = DC
disable netbios = yes
interfaces = 127.0.0.1/8
bind interfaces only = yes
smb ports = {smb}
krb5 port = {kdc}
kpasswd port = {passwords}
private dir = {domain}/private
lock directory = {domain}
state directory = {domain}/state
cache directory = {domain}/cache
binddns dir = {domain}/bind-dns
log file = {folder}/log
load printers = no
printing = bsd
[data]
path = {share}
read only = no
valid users = BMO\\ann
force user = root
""")
share.mkdir()
(share / "one.txt").write_text("one\n")
tool = ("samba-tool", "user")
run(*tool, "create", "ann", "Secret-1234", "-s", str(settings))
run(*tool, "setexpiry", "ann", "--noexpiry", "-s", str(settings))
run("samba-tool", "domain", "exportkeytab", str(folder / "ann.keytab"), "--principal=ann", "-s", str(settings))
(folder / "hosts").write_text("127.0.0.1 dc.bmo.test localhost\n")
(folder / "krb5.conf").write_text(f"""[libdefaults]
default_realm = {REALM}
dns_lookup_kdc = false
dns_canonicalize_hostname = false
rdns = false
udp_preference_limit = 1
[realms]
{REALM} = {{
  kdc = 127.0.0.1:{kdc}
}}
[domain_realm]
.bmo.test = {REALM}
""")
server = subprocess.Popen(["samba", "-F", "--no-process-group", "-s", str(settings)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def signs_in():
    """Whether the domain knows its user: winbindd starts last."""
    done = subprocess.run(
        ["smbclient", "//127.0.0.1/data", "-p", str(smb), "-s", "/dev/null", "-U", "BMO\\ann%Secret-1234", "-c", "ls"],
        stdin=subprocess.DEVNULL, capture_output=True)
    return done.returncode == 0


try:
    deadline = time.monotonic() + 60
    while not (answers(kdc) and answers(smb) and signs_in()):
        if time.monotonic() > deadline or server.poll() is not None:
            sys.exit("the domain did not start: " + (folder / "log").read_text()[-2000:])
        time.sleep(0.1)
    print("port", smb, kdc, flush=True)
    sys.stdin.read()
finally:
    server.terminate()
    server.wait()
