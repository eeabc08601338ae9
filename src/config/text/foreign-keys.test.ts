/** Settings files of people who know ngrok's: YAML, and keys that have another name here. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agentSchema } from '../agent.ts';
import { readToml } from '../toml.ts';

function mistakesOf(text: string, file = 'a.toml'): string[] {
  try {
    readToml(text, { file, schema: agentSchema });
  } catch (error) {
    return (error as Error).message.split('\n');
  }
  return [];
}

for (const [key, answer] of [
  ['addr = 3000', /Use target = 3000$/],
  ['proto = "http"', /Use protocol = "http"$/],
  ['cidr_allow = ["10.0.0.0/8"]', /Use allow_cidr = \["…"\]$/],
  ['verify_webhook = { provider = "github" }', /Use webhook_verify = "KIND"/],
  ['oauth = { provider = "google" }', /Use visitor_login = /],
  ['remote_addr = "x:1"', /Use remote_port = 20017$/],
  ['hostname = "shop.example.com"', /Use subdomain = "NAME" .*, or domain = "NAME"/],
  ['schemes = ["https"]', /Remove it$/],
  ['auth = "ann:hunter2"', /Use basic_auth = "USER" and basic_auth_file = "FILE"$/],
  ['localPort = 3000', /Use target = 3000$/],
] as const) {
  test(`agent file: ${key.split(' ')[0]} is answered with the key that Culvert has`, () => {
    const [said = '', ...more] = mistakesOf(`[tunnels.web]\ntarget = 3000\n${key}\n`);
    assert.match(said, /^a\.toml:3: tunnels\.web\.\w+: unknown key\. /);
    assert.match(said, answer);
    assert.deepEqual(more, []);
    assert.doesNotMatch(said, /hunter2/);
  });
}

test('agent file: authtoken names the ways to give a key', () => {
  assert.match(
    mistakesOf('authtoken = "hunter2"\n')[0] ?? '',
    /^a\.toml:1: authtoken: unknown key\. Use token_file = "FILE"/,
  );
});

test('agent file: the list of all keys is shown once', () => {
  const said = mistakesOf('[tunnels.web]\ntarget = 1\nfoo = 1\nbar = 2\n[tunnels.api]\ntarget = 1\nbaz = 1\n');
  assert.equal(said.length, 3);
  assert.equal(said.filter((line) => line.includes('The keys of [')).length, 1);
});

test('settings file: YAML is named, by its first line or its name', () => {
  const ngrok = '# mine\nversion: "3"\nagent:\n  authtoken: hunter2\n';
  for (const [text, file] of [
    [ngrok, 'a.toml'],
    ['tunnels:\n  web: x\n', 'b.toml'],
    ['a b', 'ngrok.yml'],
  ] as const) {
    const said = mistakesOf(text, file).join('\n');
    assert.match(said, /looks like YAML, such as ngrok's\. Culvert reads TOML: a line \[tunnels\.web\]/);
    assert.doesNotMatch(said, /hunter2/);
  }
  assert.match(mistakesOf('[tunnels.web\n').join(), /not valid TOML/);
});
