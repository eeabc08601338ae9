/** Words of a shell → command: mistakes in them, help, and keys, which are never taken from there. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { run, tempHome } from './fixtures/in-process.ts';

const KEY = 'mtk_0123456789abcdefghijABCDEFGHIJ0123456789abc';
/** Nothing here gets as far as asking a server. */
const env = { CULVERT_TOKEN: KEY, CULVERT_SERVER: 'http://127.0.0.1:1' };

test('usage mistakes exit with 2 and say what to do', async (t) => {
  const home = tempHome(t);
  const cases: ReadonlyArray<readonly [string[], RegExp]> = [
    [[], /Usage: culvert/],
    [['http'], /missing required argument 'target'/],
    [['htp', '3000'], /unknown command 'htp'/],
    [['http', '3000', '--subdomian', 'x'], /unknown option '--subdomian'/],
    [['http', 'no target'], /is not a valid target\. Use a port/],
    [['http', '0'], /is not a valid target/],
    [['http', 'http://localhost:3000/admin'], /a whole host, not a path/],
    [['tcp', 'http://localhost:3000'], /its scheme is http/],
    [['http', '3000', '--server', 'ftp://x'], /is not a server URL/],
    [['http', '3000', '--proxy-protocol'], /--proxy-protocol: is for tcp tunnels only; .* X-Forwarded-For/],
    [['https', '3000', '--proxy-protocol'], /--proxy-protocol: is for tcp tunnels only/],
    [['http', '3000', '--inspect-port', '65536'], /--inspect-port: a port is at most 65535/],
    [['http', '3000', '--inspect-port', 'x'], /--inspect-port: "x" is not a whole number/],
    [['http', '3000', '--inspect-port', '4100', '--no-inspect'], /--inspect-port: can't be used with --no-inspect/],
    [['start'], /no tunnel to start/],
    [['start', '--config', 'absent.toml'], /absent\.toml: cannot be read: there is no such file/],
    [['config', 'check', 'absent.toml'], /absent\.toml: cannot be read/],
  ];
  const results = await Promise.all(cases.map(([args]) => run(args, { home, env })));
  results.forEach(({ code, stdout, stderr }, i) => {
    const [args, message] = cases[i] as (typeof cases)[number];
    assert.equal(code, 2, args.join(' '));
    assert.match(stderr, message);
    assert.equal(stdout, '', `${args.join(' ')}: nothing on standard output`);
  });
});

test('help and version exit with 0, on standard output', async (t) => {
  const home = tempHome(t);
  for (const [args, text] of [
    [['--help'], /serve .*http .*tcp .*start .*status .*version/s],
    [['http', '--help'], /--token-file/],
    [['help'], /serve .*http .*tcp .*start .*status .*version .*help \[command\.\.\.\]/s],
    [['help', 'http'], /--token-file/],
    [['admin', '--help'], /^Usage: culvert admin (?!.*\bhelp \[command)/s],
    [['--version'], /^\d+\.\d+\.\d+(?:-rc\.\d+)?\n$/],
    [['version'], /^culvert \d+\.\d+\.\d+(?:-rc\.\d+)? \(node 26/],
  ] as const) {
    const { code, stdout, stderr } = await run(args, { home });
    assert.equal(code, 0);
    assert.match(stdout, text);
    assert.equal(stderr, '');
  }
});

test('a key on the command line is refused, is not repeated, and the ways to give it are named', async (t) => {
  const home = tempHome(t);
  for (const args of [
    ['http', '3000', '--token', KEY],
    ['--token', KEY, 'http', '3000'],
    ['start', `--token=${KEY}`],
    ['http', '3000', `--token-file=${KEY}`],
    ['tokens', 'revoke', KEY],
    ['tokens', 'mint', '--', KEY],
  ]) {
    const { code, stdout, stderr } = await run(args, { home, env });
    assert.equal(code, 2);
    for (const way of ['CULVERT_TOKEN', 'CULVERT_TOKEN_FILE', '--token-file', 'token_file'])
      assert.ok(stderr.includes(way));
    assert.ok(!(stdout + stderr).includes(KEY));
  }
});
