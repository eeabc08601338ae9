/**
 * The agent as a scheduled task on Windows. A service of its own is not possible without another program: the service manager ends every process that
 * does not speak its protocol, as Node does not. A task starts at logon, or at boot as the same user and without a password (S4U).
 */
import { win32 } from 'node:path';
import { usageError } from '../terminal/exit.ts';
import { MARK, type ServiceDefinition, must, type ServiceWishes } from './definition.ts';
import type { ServiceHost } from './service-host.ts';
import { xmlText } from './xml.ts';

export function taskScheduler(host: ServiceHost, { name, scope, config }: ServiceWishes): ServiceDefinition {
  const isUser = scope === 'user';
  const folder = win32.join(host.home, 'AppData', 'Local', 'culvert');
  const file = win32.join(folder, `${name}.xml`);
  const log = win32.join(folder, `${name}.log`);
  const schtasks = (...args: string[]): Promise<string> => must(host, 'schtasks.exe', args);
  const stateOf = `(Get-ScheduledTask -TaskName '${name}' -ErrorAction Stop).State.ToString()`;
  return {
    kind: isUser ? 'task at logon' : 'task at boot',
    file,
    text: taskXml(host, { name, scope, config }, log),
    log: `Get-Content -Wait "${log}"`,
    hints: isUser
      ? [
          'It has a window while you are logged in. Without one, from boot on: culvert service install --system, as an administrator',
        ]
      : [],
    encoding: 'utf16le',
    start: async () => {
      await schtasks('/create', '/tn', name, '/xml', file, '/f');
      await schtasks('/run', '/tn', name);
    },
    stop: async () => {
      await host.run('schtasks.exe', ['/end', '/tn', name]); // fails where it does not run
      await schtasks('/delete', '/tn', name, '/f');
    },
    forget: () => Promise.resolve(),
    isRunning: async () => {
      // What schtasks prints is in the language of the system.
      const asked = ['-NoProfile', '-NonInteractive', '-Command', stateOf];
      const { code, output } = await host.run('powershell.exe', asked);
      return code === 0 && output.trim() === 'Running';
    },
  };
}

/** In the order of the schema: http://schemas.microsoft.com/windows/2004/02/mit/task. */
function taskXml(host: ServiceHost, { scope, config }: ServiceWishes, log: string): string {
  const isUser = scope === 'user';
  const user = xmlText(host.user);
  const trigger = isUser
    ? `<LogonTrigger>\n      <Enabled>true</Enabled>\n      <UserId>${user}</UserId>\n    </LogonTrigger>`
    : `<BootTrigger>\n      <Enabled>true</Enabled>\n    </BootTrigger>`;
  const words = [...host.program, 'start', '--config', config].map(commandWord).join(' ');
  // The Task Scheduler keeps no output; cmd.exe takes the outer pair of quotes away.
  const line = `/d /s /c "${words} >> ${commandWord(log)} 2>&1"`;
  return `<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>Culvert agent. ${MARK}.</Description>
  </RegistrationInfo>
  <Triggers>
    ${trigger}
  </Triggers>
  <Principals>
    <Principal id="Author">
      <UserId>${user}</UserId>
      <LogonType>${isUser ? 'InteractiveToken' : 'S4U'}</LogonType>
      <RunLevel>LeastPrivilege</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <StartWhenAvailable>true</StartWhenAvailable>
    <RestartOnFailure>
      <Interval>PT1M</Interval>
      <Count>255</Count>
    </RestartOnFailure>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>cmd.exe</Command>
      <Arguments>${xmlText(line)}</Arguments>
      <WorkingDirectory>${xmlText(win32.dirname(config))}</WorkingDirectory>
    </Exec>
  </Actions>
</Task>
`;
}

/** @throws ExitError (usage) for a path that cmd.exe would read as something else. */
function commandWord(word: string): string {
  if (/["%!^\r\n]/.test(word))
    throw usageError(`${word}: a path of a service on Windows has no ", %, ! or ^. Move the file`);
  return /^[\w.:\\/-]+$/.test(word) ? word : `"${word}"`;
}
