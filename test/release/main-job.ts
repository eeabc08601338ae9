/** The main job of a program from a release: a server and an agent, and a visit through both. */
import assert from 'node:assert/strict';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { Program } from '../../scripts/quickstart/program.ts';
import { mintKey, startTrialServer } from '../../scripts/quickstart/server.ts';
import { startSite } from '../../scripts/quickstart/site.ts';
import { visit } from '../../scripts/quickstart/visit.ts';

/** Runs it with `command` in front of the arguments; files go below `folder`. */
export async function doMainJob(t: TestContext, folder: string, command: readonly string[]): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const site = await startSite();
  t.after(() => site.close());
  const server = await startTrialServer(folder, { command, cwd: folder, env: { PATH: process.env['PATH'] } });
  t.after(() => server.program.kill());
  const keyFile = join(folder, 'key');
  writeFileSync(keyFile, await mintKey(server), { mode: 0o600 });
  const args = ['http', String(site.port), '--server', server.apiUrl, '--token-file', keyFile];
  // A service may have no home; a user has one.
  const agent = new Program({ command, args, cwd: folder, env: { PATH: process.env['PATH'], HOME: folder } });
  t.after(() => agent.kill());
  const url = await agent.printed(/^(https?:\/\/\S+)$/m);
  const { status, body } = await visit(url, server.httpPort);
  assert.equal(status, 200);
  assert.match(body, /<h1>It works\.<\/h1>/);
  assert.equal(await agent.stop(), 0, agent.output);
  assert.equal(await server.program.stop(), 0, server.program.output);
  rmSync(folder, { recursive: true });
}

/** As doMainJob, with `program` of the folder `root` as its root. Paths of the outside lead to the same files inside. */
export async function doMainJobIn(t: TestContext, root: string, program: string): Promise<void> {
  const inside = join(root, root);
  mkdirSync(dirname(inside), { recursive: true });
  symlinkSync('/', inside);
  mkdirSync(join(root, 'tmp'), { recursive: true });
  await doMainJob(t, join(root, 'job'), ['chroot', root, program]);
}
