/** An operator suspends an organization and lets it go on: real server, real agents, `culvert admin` beside them. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { suite, test, type TestContext } from 'node:test';
import { Program } from '../../scripts/quickstart/program.ts';
import { get, startOrigin } from '../harness.ts';
import { culvertCommand, type SpawnedCulvert, spawnCulvert } from '../harness/spawned.ts';

const URL = 'http://shop.localhost';

/** Runs a command to its end; returns what it printed. */
async function admin(t: TestContext, culvert: SpawnedCulvert, ...words: string[]): Promise<string> {
  const program = new Program({
    command: culvertCommand(),
    args: ['admin', ...words, '--config', join(culvert.folder, 'server.toml')],
    cwd: culvert.folder,
    env: { PATH: process.env['PATH'], HOME: culvert.folder },
  });
  t.after(() => program.kill());
  assert.equal(await program.ended(), 0, program.output);
  return program.output;
}

suite('suspension', { timeout: 120_000 }, () => {
  test('cuts live agents within a second, keeps them out, keeps the name, and an approval lets them in again', async (t) => {
    const culvert = await spawnCulvert(t);
    const { port } = await startOrigin(t, (_request, response) => response.end('hello'));
    const words = ['http', String(port), '--subdomain', 'shop', '--json'];
    const live = culvert.agent(words);
    await live.printed(/"tunnel_online"/);
    assert.equal((await get(URL, culvert.ports.http)).body, 'hello');

    assert.match(await admin(t, culvert, 'suspend', 'admin'), /^admin: suspended, plan enterprise$/m);
    // The command has ended: the server has told the agent by then.
    const refused = await get(URL, culvert.ports.http, 1_000);
    assert.deepEqual([refused.status, refused.code], [503, 'tunnel_offline']);
    assert.equal(await live.ended(), 3);
    assert.match(live.output, /The organization Admin is suspended\./);
    const outside = culvert.agent(words);
    assert.equal(await outside.ended(), 3);
    assert.match(outside.output, /The organization Admin is suspended\./);

    assert.match(await admin(t, culvert, 'approve', 'admin'), /^admin: approved, plan enterprise$/m);
    const again = culvert.agent(words);
    await again.printed(/"tunnel_online"/);
    assert.equal((await get(URL, culvert.ports.http)).body, 'hello', 'at the same name');
  });
});
