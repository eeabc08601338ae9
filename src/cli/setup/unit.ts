/** The systemd unit of the server, for a machine that got the program alone. But for its first line the same as scripts/culvert.service: a test compares them. */

const HEADING = '# Culvert server. Written by culvert setup; change it with `systemctl edit culvert`, not here.';
const START = /^ExecStart=.*$/m;

/** A unit of `culvert setup`, and of no package or install script. */
export const isOwnUnit = (text: string): boolean => text.startsWith(`${HEADING}\n`);

/** The unit with another program; all else stays. */
export const withProgram = (unit: string, program: string): string => unit.replace(START, () => execStart(program));

function execStart(program: string): string {
  return `ExecStart=${unitWord(program)} serve --config /etc/culvert/culvert.toml`;
}

/** A path as systemd reads it: `%` begins a specifier, and a space ends a word (systemd.syntax(7)). */
function unitWord(path: string): string {
  const text = path.replaceAll('%', '%%');
  return /^[\w./@:+,%=-]+$/.test(text) ? text : `"${text.replace(/[\\"]/g, '\\$&')}"`;
}

/** `program`: absolute path of the executable. */
export function unitText(program: string): string {
  return `${HEADING}
[Unit]
Description=Culvert tunnel server
Wants=network-online.target
After=network-online.target

[Service]
Type=exec
User=culvert
Group=culvert
${execStart(program)}
# Reads certificate files at once.
ExecReload=/bin/kill -HUP $MAINPID
WorkingDirectory=/var/lib/culvert
StateDirectory=culvert
StateDirectoryMode=0700
UMask=0077

Restart=always
RestartSec=1
# Exit code 2 is a mistake in the settings: starting again would only repeat the line in the journal.
RestartPreventExitStatus=2
# SIGTERM drains: what is in flight gets server.drain_seconds (30, or 5 where socket units hold the listeners), then the rest is cut.
KillMode=mixed
TimeoutStopSec=45
# Visitors, agents and the database together; the limits in [edge.limits] and [agents.limits] stay below.
LimitNOFILE=131072

# Ports below 1024 need this one capability; nothing else of root is there to be lost.
AmbientCapabilities=CAP_NET_BIND_SERVICE
CapabilityBoundingSet=CAP_NET_BIND_SERVICE
NoNewPrivileges=yes

# The file system is read-only but for the state folder and a /tmp of its own, where the native addons are unpacked at start.
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
ProtectProc=invisible
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectControlGroups=yes
ProtectClock=yes
ProtectHostname=yes
RemoveIPC=yes

# AF_NETLINK: the resolver asks for the addresses of this machine. AF_UNIX: the journal.
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
SystemCallArchitectures=native
# Refused calls fail with EPERM, which Node survives; the default would end the process.
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @resources
# Password hashing lowers the priority of its own threads, so that log-ins take nothing from visitors.
SystemCallFilter=setpriority
SystemCallErrorNumber=EPERM
# MemoryDenyWriteExecute is left out on purpose: V8 writes machine code and runs it, and would not start.

[Install]
WantedBy=multi-user.target
`;
}
