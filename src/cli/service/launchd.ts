/** The agent as a LaunchAgent of the user, or as a LaunchDaemon that runs as the user, on macOS. */
import { dirname, join } from 'node:path';
import { MARK, type ServiceDefinition, must, type ServiceWishes } from './definition.ts';
import type { ServiceHost } from './service-host.ts';
import { xmlText } from './xml.ts';

export function launchd(host: ServiceHost, { name, scope, config }: ServiceWishes): ServiceDefinition {
  const isUser = scope === 'user';
  const domain = isUser ? `gui/${host.uid}` : 'system';
  const folder = isUser ? join(host.home, 'Library/LaunchAgents') : join(host.root, '/Library/LaunchDaemons');
  const file = join(folder, `${name}.plist`);
  const log = join(host.home, 'Library/Logs', `${name}.log`);
  const target = `${domain}/${name}`;
  const launchctl = (...args: string[]): Promise<string> => must(host, 'launchctl', args);
  const isLoaded = async (): Promise<boolean> => (await host.run('launchctl', ['print', target])).code === 0;
  return {
    kind: isUser ? 'LaunchAgent' : 'LaunchDaemon',
    file,
    text: plist(host, { name, scope, config }, log),
    log: `tail -f ${log}`,
    hints: isUser
      ? ['It runs while you are logged in. To start it at boot: sudo culvert service install --system']
      : [],
    encoding: 'utf8',
    start: async () => {
      if (await isLoaded()) await launchctl('bootout', target);
      await launchctl('enable', target);
      await launchctl('bootstrap', domain, file);
    },
    stop: async () => {
      if (await isLoaded()) await launchctl('bootout', target);
    },
    forget: () => Promise.resolve(),
    isRunning: async () => {
      const { code, output } = await host.run('launchctl', ['print', target]);
      return code === 0 && /^\s*state = running$/m.test(output);
    },
  };
}

/** launchd.plist(5). A restart follows every exit but a clean one; it knows no exit codes. */
function plist(host: ServiceHost, { name, scope, config }: ServiceWishes, log: string): string {
  const words = [...host.program, 'start', '--config', config].map((word) => `    <string>${xmlText(word)}</string>`);
  const user = scope === 'user' ? '' : `  <key>UserName</key>\n  <string>${xmlText(host.user)}</string>\n`;
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- Culvert agent. ${MARK}. -->
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${name}</string>
  <key>ProgramArguments</key>
  <array>
${words.join('\n')}
  </array>
${user}  <key>WorkingDirectory</key>
  <string>${xmlText(dirname(config))}</string>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ThrottleInterval</key>
  <integer>30</integer>
  <key>ExitTimeOut</key>
  <integer>45</integer>
  <key>Umask</key>
  <integer>63</integer>
  <key>SoftResourceLimits</key>
  <dict>
    <key>NumberOfFiles</key>
    <integer>65536</integer>
  </dict>
  <key>StandardOutPath</key>
  <string>${xmlText(log)}</string>
  <key>StandardErrorPath</key>
  <string>${xmlText(log)}</string>
</dict>
</plist>
`;
}
