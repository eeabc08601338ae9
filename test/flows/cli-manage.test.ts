// built file: its commands are processes then, as those of cli-tokens and cli-network would be
/** What an organization has, from the command line against a real server: access control, domains, names, members, webhooks, and `culvert api`. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { get, startOrigin } from '../harness.ts';
import { machine, sharedMachine } from '../harness/person.ts';

/** A file that only its owner can read. */
function secretFile(home: string, name: string, text: string): string {
  const file = join(home, name);
  writeFileSync(file, text, { mode: 0o600 });
  return file;
}

suite('an organization from the command line', { timeout: 240_000 }, () => {
  const shared = sharedMachine();

  test('access control: password, visitor login, maintenance and policy, set and turned off', async (t) => {
    const { culvert, home, ok, run } = await machine(t);
    const origin = await startOrigin(t, (_request, response) => response.end('behind'));
    const key = secretFile(home, 'key', await ok('tokens', 'mint', 'a'));
    const agent = culvert.agent(['http', String(origin.port), '--subdomain', 'shop', '--token-file', key], {
      env: { CULVERT_TOKEN: '' },
    });
    await agent.printed(/^http:\/\/shop\.localhost/m);
    const visit = async (path = '/', user = '') =>
      (await get(`http://${user}shop.localhost${path}`, culvert.ports.http)).status;

    const password = secretFile(home, 'password', 'open-sesame\n');
    const set = ['tunnels', 'password', 'shop', 'ann', '--password-file', password];
    assert.equal(await ok(...set), 'shop: visitors need the password of ann\n');
    assert.equal(await visit(), 401);
    assert.equal(await visit('/', 'ann:open-sesame@'), 200);
    const second = await run(['tunnels', 'password', 'shop', 'bob'], { CULVERT_PASSWORD: 'another-one' });
    assert.equal(second.code, 0, second.stderr);
    assert.equal(await visit('/', 'bob:another-one@'), 200);
    const none = await run(['tunnels', 'password', 'shop', 'bob']);
    assert.deepEqual([none.code, none.stdout], [2, '']);
    assert.match(none.stderr, /no terminal for a prompt\. Use --password-file FILE or CULVERT_PASSWORD/);
    chmodSync(password, 0o644);
    assert.match((await run(set)).stderr, /other users of this machine can read the key/);
    assert.equal(await ok('tunnels', 'password', 'shop', '--off'), 'shop: no password is required\n');
    assert.equal(await visit(), 200);

    assert.equal(
      await ok('tunnels', 'maintenance', 'shop', 'Back at six.'),
      'shop: visitors get the maintenance page\n',
    );
    assert.equal(await visit(), 503);
    assert.equal(await ok('tunnels', 'maintenance', 'shop', '--off'), 'shop: visitors reach the service again\n');
    assert.equal(await visit(), 200);

    const login = ['tunnels', 'visitor-login', 'shop'];
    assert.equal(await ok(...login), 'shop: visitors need no login\n');
    const lists = ['--domains', 'example.com', '--emails', 'bob@example.net'];
    assert.equal(await ok(...login, ...lists), 'shop: allowed are @example.com, bob@example.net\n');
    assert.equal(await ok(...login), 'shop: allowed are @example.com, bob@example.net\n');
    assert.notEqual(await visit(), 200);
    assert.equal(await ok(...login, '--off'), 'shop: visitors need no login\n');

    const policy = join(home, 'policy.json');
    writeFileSync(policy, '{"actions": [{"kind": "deny", "path_prefix": "/admin"}]}');
    await visit('/admin');
    const tested = await run(['tunnels', 'policy', 'test', 'shop', policy]);
    assert.equal(tested.code, 0, tested.stderr);
    assert.match(tested.stderr, /\d+ recorded requests tested: \d+ would be blocked\. Nothing was changed/);
    assert.equal(await visit('/admin'), 200);
    assert.equal(await ok('tunnels', 'policy', 'set', 'shop', policy), 'shop: policy saved. It applies immediately\n');
    assert.equal(await visit('/admin'), 403);
    for (const words of [
      ['policy', 'shop'],
      ['policy', 'show', 'shop'],
    ])
      assert.match(await ok('tunnels', ...words), /^deny +\/admin +yes /m);
    assert.equal((await run(['tunnels', 'policy', 'remove', 'shop'])).code, 2);
    assert.equal(await ok('tunnels', 'policy', 'remove', 'shop', '--yes'), 'shop: policy removed\n');
    assert.equal(await visit('/admin'), 200);
    writeFileSync(policy, '{');
    const broken = await run(['tunnels', 'policy', 'set', 'shop', policy]);
    assert.deepEqual([broken.code, broken.stdout], [2, '']);
    for (const words of [
      ['policy', 'set', 'shop'],
      ['policy', 'shop', policy],
    ])
      assert.equal((await run(['tunnels', ...words])).code, 2, words.join(' '));
  });

  test('domains, names, members, invitations and metrics keys are listed, made and removed', async () => {
    const { culvert, home, ok, run } = await shared();
    await ok('tunnels', 'create', '3000', '--subdomain', 'shop');

    assert.match(
      await ok('domains', 'add', 'shop.example.net'),
      /^shop\.example\.net: added\. Set this DNS record, .* TXT /,
    );
    assert.match(await ok('domains'), /^shop\.example\.net +no +- /m);
    assert.equal((await run(['domains', 'bind', 'shop.example.net', 'shop'])).code, 2, 'not verified');
    assert.match((await run(['domains', 'bind', 'other.example.net', 'shop'])).stderr, /there is no domain/);
    assert.equal(await ok('domains', 'delete', 'shop.example.net', '--yes'), 'shop.example.net: deleted\n');

    assert.equal(await ok('reservations', 'create', 'books'), 'books: reserved for your organization\n');
    assert.match(await ok('reservations'), /^books +\d{4}-/m);
    assert.equal(await ok('reservations', 'delete', 'books', '--yes'), 'books: released\n');
    assert.ok(!(await ok('reservations')).includes('books'));

    const [owner] = JSON.parse(await ok('members', '--json')) as Array<{ email: string; role: string }>;
    assert.equal(owner?.role, 'owner');
    assert.equal((await run(['members', 'role', owner.email, 'viewer'])).code, 4, 'the last owner stays');
    assert.equal((await run(['members', 'remove', 'nobody@example.com', '--yes'])).code, 1);
    const invited = await ok('invitations', 'create', 'Bob@example.com', '--role', 'viewer');
    assert.match(invited, /^Bob@example\.com: invited as viewer, until \d{4}-/);
    assert.match(await ok('invitations'), /^Bob@example\.com +viewer /m);
    assert.match(await ok('invitations', 'resend', 'bob@example.com'), /^Bob@example\.com: sent again\. Link: http/);
    const withdrawn = await ok('invitations', 'delete', 'bob@example.com', '--yes');
    assert.equal(withdrawn, 'Bob@example.com: invitation withdrawn\n');

    const key = (await ok('metrics-keys', 'create', 'shown')).trim();
    const scrape = await fetch(`${culvert.apiUrl}/metrics/prometheus`, { headers: { authorization: `Bearer ${key}` } });
    assert.equal(scrape.status, 200);
    const file = join(home, 'metrics.key');
    assert.equal(await ok('metrics-keys', 'create', 'kept', '--save-file', file), '');
    assert.equal(statSync(file).mode & 0o777, 0o600);
    const kept = readFileSync(file, 'utf8').trim();
    const listed = await ok('metrics-keys', '--json');
    assert.ok(!listed.includes(kept) && !listed.includes(key));
    assert.equal((await run(['metrics-keys', 'create', 'again', '--save-file', file])).code, 2, 'the file is there');
    assert.ok(!(await ok('metrics-keys')).includes('again'), 'nothing was created');
    assert.equal(await ok('metrics-keys', 'delete', 'kept', '--yes'), 'kept: deleted\n');
    assert.ok(!existsSync(`${file}.part`));
  });

  test('webhook receivers: created with a secret of a file, changed and deleted', async () => {
    const { home, ok, run } = await shared();
    const create = ['webhooks', 'create', 'orders', '--validator', 'github'];
    const made = await ok(...create, '--secret-file', secretFile(home, 'secret', 's3cret\n'));
    const url = /: (http\S+) \(verify token for Meta: [0-9a-f]{32}\)\n$/.exec(made)?.[1] ?? '';
    const deliver = async (secret: string): Promise<number> => {
      const signature = createHmac('sha256', secret).update('{}').digest('hex');
      const headers = { 'x-hub-signature-256': `sha256=${signature}` };
      return (await fetch(url, { method: 'POST', headers, body: '{}' })).status;
    };
    assert.equal(await deliver('s3cret'), 202);
    assert.equal((await run(['webhooks', 'secret', 'orders'], { CULVERT_WEBHOOK_SECRET: 'another' })).code, 0);
    assert.deepEqual([await deliver('s3cret'), await deliver('another')], [401, 202]);
    assert.equal((await run(create)).code, 2, 'no secret');
    assert.match((await run(['webhooks', 'create', 'x'])).stderr, /needs --validator: generic_hmac_sha256, github/);
    assert.equal(await ok('webhooks', 'delete', 'orders', '--yes'), 'orders: deleted\n');
    assert.equal(await deliver('another'), 404);
  });

  test('api: any request as the user, with a body from a file', async () => {
    const { home, ok, run } = await shared();
    writeFileSync(join(home, 'tunnel.json'), '{"localPort": 3000, "subdomain": "made"}');
    const made = JSON.parse(await ok('api', 'POST', '/tunnels', '--data', '@tunnel.json')) as { id: string };
    const listed = JSON.parse(await ok('api', '/tunnels')) as Array<{ id: string }>;
    assert.ok(listed.some(({ id }) => id === made.id));
    assert.match(await ok('open', 'made'), new RegExp(`^http\\S+/app/tunnels/${made.id}\\n$`));
    assert.match(await ok('api', '/tunnels', '--include'), /^HTTP 200\n[^]*content-type: application\/json/);
    assert.deepEqual(JSON.parse(await ok('api', '/inspector', '--paginate')), []);
    const refused = await run(['api', `/tunnels/${made.id.replace(/.$/, 'x')}`]);
    assert.equal(refused.code, 1);
    assert.match(refused.stdout, /"error":"not_found"/);
  });
});
