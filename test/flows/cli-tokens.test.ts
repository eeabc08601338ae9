/**
 * Keys, projects and names from the command line: a person hands a key to a machine, a CI job mints its own with a master key, and everything ends
 * on command. Servers and agents are processes of their own.
 */
import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { get, startOrigin } from '../harness.ts';
import { endOf, sharedMachine } from '../harness/person.ts';
import { culvertCommand, type SpawnedCulvert } from '../harness/spawned.ts';

interface Item {
  readonly name: string;
  readonly nonce: string;
  readonly apiKey?: string;
  readonly wireBytes?: string;
  readonly revoked: boolean;
  readonly monthlyBudgetUsdCents: number | null;
}
const item = (text: string): Item => JSON.parse(text) as Item;

suite('tokens, projects and tunnels from the command line', { timeout: 240_000 }, () => {
  const shared = sharedMachine();

  test('a key goes through a shell into an agent, in no argument and no log; revoked, it is over', async (t) => {
    const { culvert, home, env, ok, run } = await shared();
    const origin = await startOrigin(t, (_request, response) => response.end('by key'));
    const [program = '', ...first] = culvertCommand();
    const words = [program, ...first].map((word) => `'${word}'`).join(' ');
    // As in docs/access-keys.md: the lines into the environment, by eval, and nothing else of the command on the way.
    writeFileSync(join(home, 'env'), await ok('tokens', 'mint', 'demo', '--subdomains', 'demo', '--output-env'));
    const lines = readFileSync(join(home, 'env'), 'utf8');
    assert.match(lines, /^CULVERT_SERVER=http:\/\/127\.0\.0\.1:\d+\nCULVERT_TOKEN=mtk_[A-Za-z0-9]+\n$/);
    const script = `set -a; eval "$(cat env)"; set +a; ${words} http ${origin.port} --subdomain other; echo "exit $?"`;
    const refused = await endOf('sh', ['-c', script], { cwd: home, env: { ...env, HOME: culvert.folder } });
    assert.equal(refused.stdout, 'exit 4\n', refused.stderr);

    const key = /^CULVERT_TOKEN=(.*)$/m.exec(lines)?.[1] ?? '';
    const agent = culvert.agent(['http', String(origin.port), '--subdomain', 'demo'], { token: key });
    await agent.printed(/^http:\/\/demo\.localhost/m);
    assert.equal((await get('http://demo.localhost', culvert.ports.http)).body, 'by key');
    assert.ok(!readFileSync(`/proc/${agent.pid}/cmdline`, 'utf8').includes(key));
    for (const listed of [await ok('tokens', '--all'), await ok('tokens', 'list', '--json')])
      assert.ok(!listed.includes(key));
    assert.match(await ok('tunnels'), /^demo +http:\/\/demo\.localhost\S* +http +\d+ +default +online /m);

    const asked = await run(['tokens', 'revoke', 'demo']);
    assert.deepEqual([asked.code, asked.stdout], [2, '']);
    assert.match(asked.stderr, /There is no terminal for a confirmation\. Use --yes/);
    assert.equal(await ok('tokens', 'revoke', 'demo', '--yes'), 'demo: revoked\n');
    assert.equal(await agent.ended(), 3);
    assert.ok(!agent.output.includes(key) && !culvert.server.output.includes(key));
  });

  test('an agent goes on when the file of its key is rotated, at once or with a grace', async (t) => {
    const { culvert, home, ok } = await shared();
    const origin = await startOrigin(t, (_request, response) => response.end('by file'));
    const file = join(home, 'key');
    assert.equal(await ok('tokens', 'mint', 'box', '--save-file', file, '--budget-cents', '500'), '');
    assert.equal(statSync(file).mode & 0o777, 0o600);
    const first = readFileSync(file, 'utf8');
    const words = ['http', String(origin.port), '--subdomain', 'box', '--token-file', file];
    const agent = culvert.agent(words, { env: { CULVERT_TOKEN: '' } });
    await agent.printed(/^http:\/\/box\.localhost/m);

    const shown = item(await ok('tokens', 'rotate', 'box', '--save-file', file, '--json'));
    assert.equal(shown.monthlyBudgetUsdCents, 500);
    for (const secret of ['apiKey', 'wireBytes', 'signature'])
      assert.ok(!(secret in shown), `${secret} is in the file alone`);
    assert.notEqual(readFileSync(file, 'utf8'), first);
    await agent.printed(/was rotated/);
    await online(culvert, 'box', 'by file');

    const old = shown.nonce;
    await ok('tokens', 'rotate', 'box', '--grace-hours', '1', '--save-file', file);
    assert.match(await ok('tokens'), new RegExp(`^box .* ends \\d{4}-.* ${old}$`, 'm'));
    assert.equal(await ok('tokens', 'revoke', old, '--yes'), 'box: revoked\n');
    await agent.printed(/was revoked/);
    await online(culvert, 'box', 'by file');
    assert.equal(await ok('tokens', 'budget', 'box', 'none'), 'box: budget removed\n');
    assert.equal(await agent.stop(), 0);
  });

  test('a CI job mints with a master key what opens tunnels in one project alone; the master ends it all', async (t) => {
    const { culvert, ok, run } = await shared();
    const origin = await startOrigin(t, (_request, response) => response.end('by project'));
    assert.match(await ok('projects', 'create', 'shop', '--name', 'Web shop'), /^shop: created\./);
    const master = item(await ok('tokens', 'mint', 'ci', '--master', '--ttl-days', '7', '--json'));
    const loggedOut = { HOME: culvert.folder, CULVERT_SERVER: culvert.apiUrl, CULVERT_TOKEN: master.apiKey };
    for (const key of [master.apiKey, master.wireBytes]) {
      const refused = await run(['http', '3000'], { ...loggedOut, CULVERT_TOKEN: key });
      assert.deepEqual([refused.code, refused.stdout], [3, '']);
      assert.match(refused.stderr, /^culvert: this is a master key, .*culvert tokens mint NAME --project SLUG/);
    }
    const minted = await run(['tokens', 'mint', 'pr-7', '--project', 'shop', '--json'], loggedOut);
    assert.equal(minted.code, 0, minted.stderr);
    const key = item(minted.stdout);
    const agent = culvert.agent(['http', String(origin.port), '--subdomain', 'pr', '--project', 'shop'], {
      token: key.apiKey ?? '',
    });
    await agent.printed(/^http:\/\/pr-shop\.localhost/m);
    const other = await run(['tokens', 'mint', 'pr-8', '--project', 'nothing'], loggedOut);
    assert.deepEqual([other.code, other.stdout], [1, '']);
    const brief = item((await run(['tokens', 'mint', 'brief', '--project', 'shop', '--json'], loggedOut)).stdout);
    const rotated = await run(['tokens', 'rotate', brief.nonce, '--project', 'shop', '--json'], loggedOut);
    assert.equal(rotated.code, 0, rotated.stderr);
    const nonce = item(rotated.stdout).nonce;
    const revoked = await run(['tokens', 'revoke', nonce, '--project', 'shop', '--yes'], loggedOut);
    assert.deepEqual([revoked.code, revoked.stdout], [0, `${nonce}: revoked\n`], revoked.stderr);

    // A project that a person names means its keys alone, whatever else has the name.
    const wide = item(await ok('tokens', 'mint', 'ci-2', '--json'));
    const narrow = item(await ok('tokens', 'mint', 'ci-2', '--project', 'shop', '--json'));
    for (const [handle, project] of [
      ['ci-2', 'default'],
      [wide.nonce, 'shop'],
    ] as const) {
      const none = await run(['tokens', 'revoke', handle, '--project', project, '--yes']);
      assert.deepEqual([none.code, none.stdout], [1, ''], none.stderr);
    }
    const next = item(await ok('tokens', 'rotate', 'ci-2', '--project', 'shop', '--json'));
    assert.equal(await ok('tokens', 'revoke', 'ci-2', '--project', 'shop', '--yes'), 'ci-2: revoked\n');
    const state = new Map((JSON.parse(await ok('tokens', '--json')) as Item[]).map((one) => [one.nonce, one.revoked]));
    assert.deepEqual(
      [wide, narrow, next].map(({ nonce }) => state.get(nonce)),
      [false, true, true],
    );

    assert.equal(await ok('tokens', 'revoke', 'ci', '--yes'), 'ci: revoked, 2 keys in total\n');
    assert.equal(await agent.ended(), 3);
    const late = await run(['tokens', 'mint', 'pr-9', '--project', 'shop'], loggedOut);
    assert.deepEqual([late.code, late.stdout], [3, '']);
    assert.match(
      await ok('projects', 'delete', 'shop', '--yes'),
      /^shop: deleted; tunnels deleted: 1, keys revoked: 0\n$/,
    );
  });

  test('what a policy that is only tried would refuse is seen by the owner, at the agent and from the command line', async (t) => {
    const { culvert, ok, run } = await shared();
    const origin = await startOrigin(t, (_request, response) => response.end('passed'));
    const agent = culvert.agent(['http', String(origin.port), '--subdomain', 'tried', '--json']);
    await agent.printed(/"tunnel_online"/);
    const tunnels = JSON.parse(await ok('tunnels', '--json')) as Array<{ id: string; subdomain: string }>;
    const tunnel = tunnels.find(({ subdomain }) => subdomain === 'tried');
    const policyOf = async (): Promise<string> => (await run(['tunnels', 'policy', 'tried'])).stderr;
    assert.match(await policyOf(), /no traffic policy\. It has no other access control/);
    const maintenance = `/tunnels/${tunnel?.id}/maintenance`;
    await culvert.account.call('PUT', `/tunnels/${tunnel?.id}/auth`, {
      username: 'preview',
      password: 'correct horse',
    });
    await culvert.account.call('PUT', maintenance, {});
    assert.match(await policyOf(), /no traffic policy\. Also active on tried: maintenance mode, a password\.$/m);
    assert.match(await ok('tunnels'), /^SUBDOMAIN .* GUARDS .*\n(?:.*\n)*tried .* maintenance, password /);
    await culvert.account.call('DELETE', maintenance);
    await culvert.account.call('DELETE', `/tunnels/${tunnel?.id}/auth`);
    const actions = [
      { kind: 'ip_deny', networks: ['192.0.2.0/24'] },
      { kind: 'deny', path_prefix: '/admin', enforce: false },
    ];
    await culvert.account.call('PUT', `/tunnels/${tunnel?.id}/policy`, { actions });
    assert.match(await ok('tunnels', 'policy', 'tried'), /^deny +\/admin +no +0 +- +- *$/m);
    const answer = await get('http://tried.localhost/admin/users?token=secret', culvert.ports.http);
    assert.deepEqual([answer.status, answer.body], [200, 'passed']);
    await agent.printed(/"event":"request".*"status":200,.*"would_be":\{"status":403,"code":"denied"\}/);
    const until = Date.now() + 20_000;
    let shown = '';
    while (!/^deny .* no +1 /m.test(shown)) {
      assert.ok(Date.now() < until, shown);
      shown = await ok('tunnels', 'policy', 'tried');
    }
    assert.match(
      shown,
      /^KIND +RULE +ENFORCED +WOULD REFUSE +LAST \(UTC\) +SAMPLE *\nip_deny +192\.0\.2\.0\/24 +yes +- +- +- *$/m,
    );
    assert.match(shown, / GET \/admin\/users from 127\.0\.0\.1: denied *$/m);
    assert.equal(await agent.stop(), 0);
  });

  test('commands side by side leave the log-in whole', async () => {
    const { ok, run, spawn } = await shared();
    const ends = await Promise.all(Array.from({ length: 5 }, (_, index) => spawn(['tokens', 'mint', `job-${index}`])));
    for (const { code, stdout, stderr } of ends) {
      assert.equal(code, 0, stderr);
      assert.match(stdout, /^mtk_\w+\n$/);
    }
    const listed = JSON.parse(await ok('tokens', 'list', '--json')) as Item[];
    assert.equal(listed.filter(({ name }) => name.startsWith('job-')).length, 5);
    assert.match(await ok('tunnels', 'create', '3000', '--subdomain', 'shop'), /^http:\/\/shop\.localhost\S*\n$/);
    assert.equal((await run(['tunnels', 'create', '3000', '--subdomain', 'shop'])).code, 4);
    assert.match(await ok('tunnels', 'stop', 'shop'), /^shop: stopped/);
    assert.match(await ok('tunnels', 'start', 'shop'), /^shop: started/);
    assert.equal(await ok('tunnels', 'delete', 'shop', '--yes'), 'shop: deleted\n');
    // The last one of those that share the log-in.
    await ok('logout');
    const after = await run(['tokens']);
    assert.equal(after.code, 3);
    assert.match(after.stderr, /not logged in at .*culvert login --server/);
  });
});

/** Waits, for 20 s at most, until a visitor gets this from the agent again. */
async function online(culvert: SpawnedCulvert, name: string, body: string): Promise<void> {
  const until = Date.now() + 20_000;
  for (;;) {
    const answer = await get(`http://${name}.localhost`, culvert.ports.http);
    if (answer.body === body) return;
    assert.ok(Date.now() < until, `${name} is away: ${answer.status}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
