import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { FakeServer } from '../../agent/fixtures/fake-server.ts';
import { start, tempHome } from '../fixtures/in-process.ts';
import { VERSION } from '../terminal/version.ts';

const KEY = 'mtk_0123456789abcdefghijABCDEFGHIJ0123456789abc';

/** The log of an agent that connects to servers of these versions, one after the other. */
async function logOf(t: TestContext, versions: readonly string[]): Promise<string> {
  const server = await FakeServer.start();
  t.after(() => server.close());
  const env = { CULVERT_TOKEN: KEY, CULVERT_SERVER: server.url.href };
  const program = start(t, ['http', '3000', '--no-inspect'], { home: tempHome(t), env });
  for (const [index, serverVersion] of versions.entries()) {
    const peer = await server.peer();
    await peer.hear('hello');
    const agentId = '00000000-0000-4000-8000-000000000001';
    peer.say({ type: 'welcome', version: 1, agentId, serverVersion, account: 'a@example.com' });
    await program.until(() => program.stderr.split('"connected"').length === index + 2);
    server.cut();
  }
  program.signal('SIGTERM');
  await program.exit;
  return program.stderr;
}

test('agent: logs once that the server is newer', async (t) => {
  const log = await logOf(t, ['99.0.0', '99.0.0']);
  const lines = log.split('\n').filter((line) => line.includes('culvert upgrade'));
  assert.equal(lines.length, 1, log);
  const { version, serverVersion, msg }: Record<string, unknown> = JSON.parse(lines[0] ?? '');
  assert.deepEqual(
    [version, serverVersion, msg],
    [VERSION, '99.0.0', 'the server is newer than this agent: culvert upgrade'],
  );
});

test('agent: logs nothing about a server of the same or an older version, or of one that is no version', async (t) => {
  const log = await logOf(t, [VERSION, '0.0.1', '9.9']);
  assert.doesNotMatch(log, /culvert upgrade/);
});
