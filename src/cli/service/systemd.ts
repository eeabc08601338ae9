/** The agent as a unit of systemd, of the user or of the system. Beside scripts/culvert-agent@.service, which packages bring. */
import { join } from 'node:path';
import { EXIT, ExitError } from '../terminal/exit.ts';
import { MARK, type ServiceDefinition, must, type ServiceWishes } from './definition.ts';
import type { ServiceHost } from './service-host.ts';

export function systemd(host: ServiceHost, { name, scope, config }: ServiceWishes): ServiceDefinition {
  const isUser = scope === 'user';
  const flag = isUser ? ['--user'] : [];
  const unit = `${name}.service`;
  const folder = isUser ? join(host.home, '.config/systemd/user') : join(host.root, '/etc/systemd/system');
  const systemctl = (...args: string[]): Promise<string> => must(host, 'systemctl', [...flag, ...args]);
  return {
    kind: `systemd ${scope} unit`,
    file: join(folder, unit),
    text: unitText(host, { name, scope, config }),
    log: `journalctl ${isUser ? '--user ' : ''}-u ${unit}`,
    hints: isUser ? [`It runs while you are logged in. To start it at boot: loginctl enable-linger ${host.user}`] : [],
    encoding: 'utf8',
    start: async () => {
      if (!host.hasSystemd) throw noSystemd(config);
      await systemctl('daemon-reload');
      await systemctl('enable', unit);
      await systemctl('restart', unit);
    },
    stop: async () => {
      await systemctl('disable', '--now', unit);
    },
    forget: async () => {
      await systemctl('daemon-reload');
    },
    isRunning: async () => (await host.run('systemctl', [...flag, 'is-active', unit])).code === 0,
  };
}

function noSystemd(config: string): ExitError {
  const text = `systemd does not run on this machine. Let its own service manager run: culvert start --config ${config}`;
  return new ExitError(EXIT.failure, text);
}

/** A word of a command line as systemd reads it: `%` begins a specifier, `$` a variable, a space ends it (systemd.syntax(7)). */
function unitWord(word: string): string {
  const text = word.replaceAll('%', '%%').replaceAll('$', '$$$$');
  return /^[\w./@:+,%=$-]+$/.test(text) ? text : `"${text.replace(/[\\"]/g, '\\$&')}"`;
}

function unitText(host: ServiceHost, { name, scope, config }: ServiceWishes): string {
  const command = [...host.program, 'start', '--config', config].map(unitWord).join(' ');
  const isUser = scope === 'user';
  return `# Culvert agent. ${MARK}; change it with \`systemctl ${isUser ? '--user ' : ''}edit ${name}\`, not here.
[Unit]
Description=Culvert agent (${config.replaceAll('%', '%%')})
${isUser ? '' : 'Wants=network-online.target\nAfter=network-online.target\n'}
[Service]
Type=exec
${isUser ? '' : `User=${host.user}\n`}ExecStart=${command}
UMask=0077

# The agent itself never gives up on a network; it ends on what only a person can mend.
Restart=always
RestartSec=5
# 2: settings are wrong, 3: the key is not accepted, 4: name, quota or plan refused, or the name taken over by another agent.
RestartPreventExitStatus=2 3 4
# SIGTERM drains: requests in flight get 30 s.
KillMode=mixed
TimeoutStopSec=45
LimitNOFILE=65536
NoNewPrivileges=yes
${isUser ? '' : hardening(name)}
[Install]
WantedBy=${isUser ? 'default' : 'multi-user'}.target
`;
}

/** Key and settings may lie in the user's home, which is only read. A user's own manager has no means for most of this. */
function hardening(name: string): string {
  return `
# Remembers the server between runs, so that another one at its address never ends the agent.
StateDirectory=${name}
StateDirectoryMode=0700
CapabilityBoundingSet=
ProtectSystem=strict
ProtectHome=read-only
PrivateTmp=yes
PrivateDevices=yes
ProtectProc=invisible
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectControlGroups=yes
ProtectClock=yes
ProtectHostname=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @resources
SystemCallErrorNumber=EPERM
`;
}
