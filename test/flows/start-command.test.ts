/** The command that brings a tunnel back, on the whole product: an agent runs with flags and ends; what the API shows is run, and the tunnel is as it was. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { start, tempHome } from '../../src/cli/fixtures/in-process.ts';
import { startCulvert, startOrigin } from '../harness.ts';

interface Shown {
  readonly id: string;
  readonly subdomain: string;
  readonly publicUrl: string;
  readonly protocol: string;
  readonly localPort: number;
  readonly setByAgent: object | null;
  readonly startCommand: { readonly words: readonly string[]; readonly key: { readonly name: string } };
}

/** A server, and agents of the command line with a key that is called `ci-deploy`. */
async function fixture(t: TestContext) {
  const culvert = await startCulvert(t);
  const { body } = await culvert.account.call('POST', '/tokens', {
    ...{ name: 'ci-deploy', ttlHours: 24, tunnelQuota: 5, bandwidthLimitMbps: 100, allowedSubdomains: ['*'] },
  });
  const env = { CULVERT_TOKEN: String(body['apiKey']), CULVERT_BASIC_AUTH: 'ann:a long password' };
  const home = tempHome(t);
  return {
    culvert,
    home,
    /** Runs it until its tunnel is online, then looks at the tunnel, and ends it. */
    seen: async (args: readonly string[]): Promise<Shown> => {
      const program = start(t, [...args, '--server', culvert.server.apiUrl, '--json'], { home, env });
      await program.until(() => program.stdout.includes('tunnel_online'));
      const [listed] = (await culvert.account.call('GET', '/tunnels')).body as unknown as Shown[];
      const shown = (await culvert.account.call('GET', `/tunnels/${listed?.id}`)).body as unknown as Shown;
      program.signal('SIGTERM');
      assert.equal(await program.exit, 0, program.stderr);
      return shown;
    },
  };
}

const settingsOf = ({ id, subdomain, publicUrl, protocol, localPort, setByAgent }: Shown): object => ({
  ...{ id, subdomain, publicUrl, protocol, localPort, setByAgent },
});

test('start command: run as it is shown, it brings the same tunnel back with the same settings', async (t) => {
  const { culvert, home, seen } = await fixture(t);
  const { port } = await startOrigin(t, (_request, response) => response.end('hello'));
  writeFileSync(join(home, 'rules of shop.json'), '{"actions":[{"kind":"header_set","name":"X-A","value":"1"}]}');
  const first = await seen([
    ...['http', String(port), '--allow-cidr', '127.0.0.0/8', '--allow-cidr', '::1', '--basic-auth', 'ann'],
    ...[
      '--policy',
      'rules of shop.json',
      '--host-header',
      'rewrite',
      '--upstream-connect-timeout',
      '3s',
      '--no-inspect',
    ],
  ]);
  const { words, key } = first.startCommand;
  assert.equal(key.name, 'ci-deploy');
  assert.deepEqual([words[0], words.includes(first.subdomain)], ['culvert', true]);
  assert.doesNotMatch(words.join(' '), /long password|mtk_/);
  const again = await seen(words.slice(1));
  assert.deepEqual(settingsOf(again), settingsOf(first));
  assert.deepEqual(again.startCommand, first.startCommand);
  assert.equal((await culvert.account.call('GET', '/tunnels')).body['length'], 1, 'no other tunnel');
});

test('start command: a tunnel of a settings file is started by its name there', async (t) => {
  const { home, seen } = await fixture(t);
  const { port } = await startOrigin(t, (_request, response) => response.end('hello'));
  writeFileSync(join(home, 'mine.toml'), `[tunnels.web]\ntarget = ${port}\nsubdomain = "shop"\nbasic_auth = "ann"\n`);
  const first = await seen(['start', '--config', 'mine.toml']);
  assert.deepEqual(first.startCommand.words, ['culvert', 'start', 'web', '--config', 'mine.toml']);
  const again = await seen(first.startCommand.words.slice(1));
  assert.deepEqual(settingsOf(again), settingsOf(first));
});
