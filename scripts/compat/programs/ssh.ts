/** OpenSSH behind a tcp tunnel: a login by key, and bytes both ways. */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { findProgram } from '../../../test/harness/tools.ts';
import { type CompatProgram, NotHere } from '../program.ts';

const OPTIONS = ['StrictHostKeyChecking=no', 'UserKnownHostsFile=/dev/null', 'LogLevel=ERROR', 'BatchMode=yes'];

export const ssh: CompatProgram = {
  name: 'OpenSSH',
  checks: 'login by key, 5 MB to a command and back',
  protocol: 'tcp',
  async start(kit) {
    await kit.needs({ ssh: 'openssh-client', sshd: 'openssh-server' });
    // sshd starts itself again and wants its full path.
    const sshd = findProgram('sshd');
    if (sshd === undefined || process.getuid?.() !== 0) throw new NotHere('sshd needs root');
    mkdirSync('/run/sshd', { recursive: true });
    for (const name of ['host', 'user']) {
      await kit.run(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', join(kit.folder, name)]);
    }
    const port = await kit.freePort();
    kit.write({ sshd_config: configuration(kit.folder, port) });
    await kit.serve([sshd, '-D', '-e', '-f', join(kit.folder, 'sshd_config')], port);
    return {
      version: (await kit.run(['ssh', '-V'])).replace(/^OpenSSH_([^ ,]+)[^]*$/, '$1'),
      port,
      async check(tunnel) {
        const options = OPTIONS.flatMap((option) => ['-o', option]);
        const place = ['-i', join(kit.folder, 'user'), '-p', String(tunnel.port), `${userInfo().username}@127.0.0.1`];
        const input = 'compat\n'.repeat(750_000);
        const output = await kit.run(['ssh', '-F', 'none', ...options, ...place, 'cat'], { input });
        assert.ok(output === input, 'what comes back is what was sent');
      },
    };
  },
};

function configuration(folder: string, port: number): string {
  return `Port ${port}
ListenAddress 127.0.0.1
HostKey ${folder}/host
AuthorizedKeysFile ${folder}/user.pub
PidFile none
StrictModes no
UsePAM no
`;
}
