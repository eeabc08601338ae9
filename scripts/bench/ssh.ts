/**
 * Starts the reverse tunnel of OpenSSH, the tool that people use for Culvert's job when they have nothing else: an sshd of
 * our own on a free port, with keys made for this run, and `ssh -R` to it.
 */
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { waitForAnswer } from './load.ts';
import { freePort, type Processes } from './processes.ts';
import type { Subject } from './subject.ts';
import type { Tools } from './tools.ts';

/** The fastest cipher of OpenSSH on processors with AES instructions, and the one that Culvert's TLS uses as well. */
const SSH_CIPHER = 'aes128-gcm@openssh.com';

/** Where its two ends stand: on loopback, or in two network namespaces with a slow link between them. */
export interface SshPlace {
  /** Loopback port of the origin, beside the ssh client. */
  readonly originPort: number;
  /** Address on which sshd listens and which the client dials. */
  readonly sshdAddress: string;
  readonly serverNetns?: string;
  readonly clientNetns?: string;
}

/** `ssh -R` to an sshd of our own, with keys made for this run. Undefined when OpenSSH is absent. */
export async function startSsh(processes: Processes, tools: Tools, place: SshPlace): Promise<Subject | undefined> {
  const [sshd, ssh, keygen] = [tools.find('sshd'), tools.find('ssh'), tools.find('ssh-keygen')];
  if (sshd === undefined || ssh === undefined || keygen === undefined) return undefined;
  const suffix = place.serverNetns === undefined ? '' : '-link';
  const names = [`sshd${suffix}`, `ssh${suffix}`] as const;
  const folder = processes.makeFolder(names[0]);
  for (const key of ['host', 'user']) {
    const outcome = await processes.run([keygen, '-q', '-t', 'ed25519', '-N', '', '-f', join(folder, key)]);
    if (outcome.code !== 0) throw new Error(`ssh-keygen: ${outcome.stderr}`);
  }
  copyFileSync(join(folder, 'user.pub'), join(folder, 'authorized_keys'));
  // sshd insists on its folder for privilege separation; a package that never started it leaves it out.
  if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true, mode: 0o755 });
  const sshdPort = await freePort();
  const port = await freePort();
  const config = join(folder, 'sshd_config');
  writeFileSync(config, sshdConfig(folder, place.sshdAddress, sshdPort));
  processes.start(names[0], [sshd, '-D', '-e', '-f', config], { netns: place.serverNetns });
  await processes.waitForOutput(names[0], /Server listening/);
  const options = [
    'StrictHostKeyChecking=no',
    `UserKnownHostsFile=${join(folder, 'known_hosts')}`,
    'ExitOnForwardFailure=yes',
    'IdentitiesOnly=yes',
    'BatchMode=yes',
  ];
  processes.start(
    names[1],
    [
      ...[ssh, '-N', '-F', 'none', '-i', join(folder, 'user'), '-p', String(sshdPort), '-c', SSH_CIPHER],
      ...options.flatMap((option) => ['-o', option]),
      ...['-R', `127.0.0.1:${port}:127.0.0.1:${place.originPort}`, `${userInfo().username}@${place.sshdAddress}`],
    ],
    { netns: place.clientNetns },
  );
  const subject: Subject = { name: 'ssh', scheme: 'http', address: '127.0.0.1', port, processes: names };
  await waitForAnswer(processes, subject, place.serverNetns);
  return subject;
}

function sshdConfig(folder: string, address: string, port: number): string {
  return `
Port ${port}
ListenAddress ${address}
HostKey ${folder}/host
AuthorizedKeysFile ${folder}/authorized_keys
PidFile ${folder}/pid
StrictModes no
UsePAM no
PermitRootLogin prohibit-password
PasswordAuthentication no
MaxStartups 1000
MaxSessions 1000
`;
}
