/** `culvert start` whose file changes while visitors are served: a real server, a real agent, real services. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { start, tempHome } from '../../src/cli/fixtures/in-process.ts';
import { startCulvert, startOrigin } from '../harness.ts';

interface Line {
  readonly event: string;
  readonly name?: string;
  readonly reason?: string;
  readonly added?: string[];
  readonly changed?: string[];
  readonly removed?: string[];
}

test('start: a changed file starts, ends and replaces tunnels, and a response on another one goes on', async (t) => {
  const culvert = await startCulvert(t);
  const slow: ServerResponse[] = [];
  const origin = await startOrigin(t, (_incoming, response) => {
    slow.push(response);
    response.write('begun ');
  });
  const [first, second] = [
    await startOrigin(t, (_incoming, response) => response.end('first')),
    await startOrigin(t, (_incoming, response) => response.end('second')),
  ];
  const home = tempHome(t);
  const file = join(home, 'culvert.toml');
  const tunnel = (name: string, port: number): string => `[tunnels.${name}]\ntarget = ${port}\nsubdomain = "${name}"\n`;
  const stays = tunnel('stays', origin.port);
  writeFileSync(file, stays + tunnel('moves', first.port) + tunnel('goes', first.port));
  const env = { CULVERT_SERVER: culvert.account.apiUrl, CULVERT_TOKEN: culvert.token };
  const urls = join(home, 'urls');
  const agent = start(t, ['start', '--json', '--no-inspect', '--url-file', urls], { home, env });
  const said = (): Line[] =>
    agent.stdout
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Line);
  const count = (event: string): number => said().filter((line) => line.event === event).length;
  await agent.until(() => count('tunnel_online') === 3);
  const urlOf = (name: string): string => `http://${name}.localhost:${culvert.httpPort}/`;
  const bodyOf = async (name: string): Promise<string> => (await culvert.get(urlOf(name))).body;

  const visit = async (name: string): Promise<IncomingMessage> => {
    const { host } = new URL(urlOf(name));
    const outgoing = request({ host: '127.0.0.1', port: culvert.httpPort, headers: { host }, agent: false }).end();
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
    return response;
  };
  const long = text(await visit('stays'));
  assert.equal(await bodyOf('moves'), 'first');

  // A mistake: what runs goes on.
  writeFileSync(file, `${stays}[tunnels.moves]\ntraget = 1\n`);
  agent.signal('SIGHUP');
  await agent.until(() => count('settings_rejected') === 1);
  assert.match(
    said().find(({ event }) => event === 'settings_rejected')?.reason ?? '',
    /culvert\.toml:\d: tunnels\.moves\.traget: unknown key/,
  );
  assert.equal(await bodyOf('moves'), 'first');

  // As an editor that replaces the file: no signal.
  const fresh = join(home, 'culvert.toml.new');
  writeFileSync(fresh, stays + tunnel('moves', second.port) + tunnel('comes', second.port));
  renameSync(fresh, file);
  await agent.until(() => count('settings_reloaded') === 1 && count('tunnel_online') === 5);
  const { added, changed, removed } = said().find(({ event }) => event === 'settings_reloaded') as Line;
  assert.deepEqual([added, changed, removed], [['comes'], ['moves'], ['goes']]);
  assert.equal(await bodyOf('moves'), 'second');
  assert.equal(await bodyOf('comes'), 'second');
  assert.equal((await culvert.get(urlOf('goes'))).code, 'tunnel_offline');
  assert.deepEqual(
    readFileSync(urls, 'utf8').trimEnd().split('\n'),
    ['stays', 'moves', 'comes'].map((name) => urlOf(name).slice(0, -1)),
  );
  slow[0]?.end('and whole');
  assert.equal(await long, 'begun and whole');
  assert.equal(count('settings_rejected'), 1, 'a mistake is reported once');
  assert.deepEqual(
    said()
      .filter(({ name }) => name === 'stays')
      .map(({ event }) => event),
    [
      'tunnel_online',
      ...said()
        .filter(({ event, name }) => event === 'request' && name === 'stays')
        .map(() => 'request'),
    ],
  );
  agent.signal('SIGTERM');
  assert.equal(await agent.exit, 0);
});
