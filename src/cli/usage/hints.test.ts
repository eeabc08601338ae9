/** Names of ngrok, cloudflared and frp on the command line: each is answered with what does the same here, and values are not repeated. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { run, tempHome } from '../fixtures/in-process.ts';
import { closestTo } from './closest.ts';
import { commandHint } from './foreign-names.ts';

const SECRET = 'hunter2secret';
const HTTP = ['http', '3000'];

const FLAGS: ReadonlyArray<readonly [flag: string, answer: RegExp, words?: readonly string[]]> = [
  ['--url', /--subdomain NAME .* --domain NAME .* --remote-port PORT/],
  ['--hostname', /--subdomain NAME/, ['tcp', '22']],
  ['--custom_domain', /--subdomain NAME/],
  ['--cidr-allow', /--allow-cidr/],
  ['--cidr-deny', /--deny-cidr/],
  ['--auth', /--basic-auth USER/],
  ['--oauth', /--visitor-login example\.com/],
  ['--oauth-allow-email', /--visitor-login example\.com/],
  ['--oidc-client-id', /--visitor-login example\.com/],
  ['--verify-webhook', /--webhook-verify KIND/],
  ['--verify-webhook-secret', /--webhook-secret-file FILE or CULVERT_WEBHOOK_SECRET/],
  ['--webhook-secret', /--webhook-secret-file FILE or CULVERT_WEBHOOK_SECRET/],
  ['--traffic-policy-file', /--policy FILE/],
  ['--traffic-policy-url', /--policy FILE/],
  ['--policy-file', /--policy FILE/],
  ['--request-header-add', /--policy FILE, .*"kind": "header_set"/],
  ['--response-header-add', /"kind": "response_header_set"/],
  ['--response-header-remove', /removes no headers/],
  ['--authtoken', /culvert login`, --token-file FILE or CULVERT_TOKEN/],
  ['--authtoken', /culvert login/, ['tunnels', 'list']],
  ['--config', /culvert start --config FILE/],
  ['--config', /culvert start --config FILE/, ['files', '.']],
  ['--log', /standard error.*--json/],
  ['--log-format', /standard error/],
  ['--log-level', /standard error/],
  ['--inspect', /--no-inspect turns it off/],
  ['--web-addr', /--inspect-port/],
  ['--verify-upstream-tls', /--verify-tls/],
  ['--root-cas', /--upstream-ca/],
  ['--app-protocol', /--upstream-protocol http2/],
  ['--remote-addr', /--remote-port PORT/, ['tcp', '22']],
  ['--remote_port', /--remote-port/, ['udp', '51820']],
  ['--proxy-proto', /--proxy-protocol/],
  ['--http-host-header', /--host-header/],
  ['--origin-server-name', /--upstream-sni/],
  ['--origin-ca-pool', /--upstream-ca/],
  ['--no-tls-verify', /--verify-tls/],
  ['--local_port', /`culvert http 3000`/],
  ['--proto', /names the protocol/],
  ['--region', /is ngrok's.*There is one server/],
  ['--scheme', /is ngrok's\. Culvert has no such option/],
  ['--circuit-breaker', /is ngrok's\. Culvert has no such option/],
  ['--ua-filter-deny', /is ngrok's\. Culvert has no such option/],
];

for (const [flag, answer, words = HTTP] of FLAGS) {
  test(`culvert ${words[0]}: ${flag} is answered with the name that Culvert has`, async (t) => {
    const home = tempHome(t);
    for (const args of [
      [...words, flag, SECRET],
      [...words, `${flag}=${SECRET}`],
    ]) {
      const { code, stderr } = await run(args, { home });
      assert.equal(code, 2);
      assert.match(stderr, new RegExp(`^culvert: unknown option '${flag}'\\. `));
      assert.match(stderr, answer);
      assert.equal(stderr.trim().split('\n').length, 1);
      assert.doesNotMatch(stderr, new RegExp(`${SECRET}|Did you mean`));
    }
  });
}

const COMMANDS: ReadonlyArray<readonly [words: string, answer: RegExp]> = [
  ['authtoken', /`culvert login`/],
  ['config add-authtoken', /`culvert login`/],
  ['config edit', /agent\.toml/],
  ['config upgrade', /agent\.toml/],
  ['diagnose', /`culvert doctor`/],
  ['replay', /`culvert inspect ID --replay`/],
  ['list', /`culvert tunnels`/],
  ['ps', /`culvert status`/],
  ['whoami', /`culvert status`/],
  ['dashboard', /`culvert open`/],
  ['endpoints', /`culvert tunnels`/],
  ['logs', /`culvert inspect --follow`/],
  ['stop', /`culvert tunnels stop NAME`/],
  ['share', /`culvert http 3000`/],
  ['expose', /`culvert http 3000`/],
  ['3000', /`culvert http 3000`/],
  ['localhost:8080', /`culvert http localhost:8080`/],
  ['tls', /`culvert https 8443`.*`culvert tcp 8443`/],
  ['tunnel', /`culvert http 3000`, or `culvert start`/],
  ['update', /`culvert upgrade`/],
  ['service restart', /culvert-agent/],
];

for (const [words, answer] of COMMANDS) {
  test(`culvert ${words}: is answered with the command that Culvert has, by help too`, async (t) => {
    const home = tempHome(t);
    for (const args of [
      [...words.split(' '), SECRET],
      ['help', ...words.split(' ')],
    ]) {
      const { code, stderr } = await run(args, { home });
      assert.equal(code, 2, args.join(' '));
      assert.match(stderr, answer);
      assert.doesNotMatch(stderr, new RegExp(SECRET));
    }
  });
}

test('help start: shows a settings file that the agent takes', async (t) => {
  const home = tempHome(t);
  const { stdout } = await run(['help', 'start'], { home });
  const [, shown = ''] = stdout.split('agent.toml:\n\n');
  writeFileSync(join(home, 'shown.toml'), shown.replace(/^ {2}/gm, ''));
  assert.equal((await run(['config', 'check', 'shown.toml'], { home })).stdout, 'shown.toml: ok\n');
  assert.match(shown, /\[tunnels\.web\][^]*\[tunnels\.ssh\]/);
});

test('service start, stop, restart: the line is that of the service manager', () => {
  assert.match(commandHint('service', 'stop', 'linux') ?? '', /systemctl --user stop .* sudo systemctl stop culvert-/);
  assert.match(commandHint('service', 'restart', 'darwin') ?? '', /launchctl kickstart -k/);
  assert.match(commandHint('service', 'start', 'win32') ?? '', /schtasks \/run \/tn culvert-agent/);
});

test('unknown options: the value is not repeated, and a flag without one says so', async (t) => {
  const home = tempHome(t);
  const unknown = await run(['http', '3000', `--pasword=${SECRET}`], { home });
  assert.equal(unknown.stderr, "culvert: unknown option '--pasword'\n");
  const flag = await run(['http', '3000', `--verify-tls=${SECRET}`], { home });
  assert.equal(flag.stderr, "culvert: option '--verify-tls' takes no value\n");
  const on = await run(['udp', '1', '--udp=false'], { home });
  assert.equal(on.stderr, "culvert: unknown option '--udp'. It is on. --no-udp turns it off.\n");
});

test('too many arguments: they are counted, not repeated', async (t) => {
  const { code, stderr } = await run(['login', 'example.com', SECRET], { home: tempHome(t) });
  assert.deepEqual([code, stderr], [2, "culvert: too many arguments for 'login': it takes 1, not 2\n"]);
});

test('closest name: a slip of the fingers, nothing that is far', () => {
  const known = ['--version', '--subdomain', '--proxy', '--json'];
  assert.equal(closestTo('--subdomian', known), '--subdomain');
  assert.equal(closestTo('--jsn', known), '--json');
  for (const far of ['--region', '--proto', '--domains', '--on']) assert.equal(closestTo(far, known), undefined, far);
});

const TARGETS: ReadonlyArray<readonly [args: readonly string[], answer: RegExp]> = [
  [['http', './site'], /looks like a folder\. Use `culvert files \.\/site`/],
  [['http', 'http:///srv/www'], /looks like a folder\. Use `culvert files \/srv\/www`/],
  [['http', 'site'], /For a folder: `culvert files FOLDER`/],
  [['http', 'localhost:3000/app'], /Use "localhost:3000", and --path-prefix \/app/],
  [['api', 'tunnels', 'create', 'x'], /for 'api': it takes 2, not 3\. Use `culvert api METHOD PATH`/],
  [['http', 'http://localhost:3000/app'], /Use "http:\/\/localhost:3000", and --path-prefix \/app/],
  [['http', 'h2c://localhost:3000'], /use http:\/\/localhost:3000 with --upstream-protocol http2/],
  [['http', '3000', '--upstream-protocol', 'h2c'], /Use http2/],
  [['http', '3000', '--subdomain', 'shop.localhost'], /takes the name alone: --subdomain shop\. A domain of your own/],
  [['http', '3000', '--visitor-login', 'google'], /"google" is no domain or address\. Name the visitors: example\.com/],
  [['http', '8080', '--basic-auth', 'ann:x'], /culvert http 8080 --basic-auth USER {7,}asks/],
  [['files', '.', '--basic-auth', 'ann:x'], /culvert files \. --basic-auth USER/],
  [['http', '3000', '--policy', 'p.yml'], /looks like YAML\. Policies of ngrok do not work here.*JSON of its own form/],
  [['start', '--all', 'web'], /--all: can't be used with names/],
  [['start', '--all'], /no tunnel to start.*\.\/culvert\.toml or ~/],
];

for (const [args, answer] of TARGETS) {
  test(`culvert ${args.join(' ')}: says what to type`, async (t) => {
    const home = tempHome(t);
    writeFileSync(join(home, 'p.yml'), 'on_http_request:\n  - actions: []\n');
    const { code, stderr } = await run(args, { home });
    assert.equal(code, 2);
    assert.match(stderr, answer);
  });
}
