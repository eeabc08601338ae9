/** The command line that an agent sends: all flags that bring a tunnel back, and no secret. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agentCommand, COMMAND_FLAGS } from '../../wire/agent-command.ts';
import { COMMANDS } from '../commands.ts';
import { sentCommand } from './sent-command.ts';

/** What is no part of the way back: it prints, chooses the server, may hold a password, or (`--all`) concerns other tunnels. */
const NOT_SENT = ['server', 'proxy', 'json', 'url-file', 'quiet', 'all'];

test('sent command: each flag of the tunnel commands is sent, or is listed as not sent', () => {
  const sent = new Set<string>([...COMMAND_FLAGS.texts, ...COMMAND_FLAGS.lists, ...COMMAND_FLAGS.switches]);
  const all = COMMANDS.filter(({ usage }) => /^(?:http|https|tcp|files|start) /.test(usage)).flatMap(({ options }) =>
    options.map(([flags]) => /^--([a-z-]+)/.exec(flags)?.[1] ?? flags),
  );
  assert.deepEqual(new Set(all), new Set([...sent, ...NOT_SENT]));
});

test('sent command: values, lists and switches are as they were typed', () => {
  const flags = {
    ...{ subdomain: 'shop', tokenFile: './key', allowCidr: ['10.0.0.0/8', '::1'], verifyTls: true, inspect: false },
    ...{ listing: true, proxy: 'http://ann:secret@proxy:1', json: true, server: 'https://a.test' },
  };
  assert.deepEqual(sentCommand({ name: 'http', target: '3000' }, { args: ['3000'], flags }), {
    ...{ name: 'http', target: '3000' },
    texts: { subdomain: 'shop', 'token-file': './key' },
    lists: { 'allow-cidr': ['10.0.0.0/8', '::1'] },
    switches: ['verify-tls', 'no-inspect'],
  });
});

test('sent command: one that no terminal should show, or that is too long, is not sent', () => {
  const sent = (target: string, policy = 'p.json') =>
    sentCommand({ name: 'files', target }, { args: [target], flags: { policy } });
  assert.ok(sent('./dist') !== undefined);
  for (const target of ['a\u001b[2J', 'a\nb', 'a\u202eb', '-x', '', 'x'.repeat(1_025)])
    assert.equal(sent(target), undefined);
  const routes = Array.from({ length: 10 }, (_, at) => `/${at}=${'x'.repeat(500)}`);
  assert.equal(sentCommand({ name: 'http', target: '1' }, { args: [], flags: { route: routes } }), undefined);
  assert.equal(
    agentCommand.safeParse({ name: 'http', target: '1', texts: { server: 'https://evil.test' } }).success,
    false,
  );
});
