/** Agents' and servers' settings files, told apart by their top keys. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { agentSchema } from '../agent.ts';
import { kindOfFile, SERVER_KEYS } from './file-kind.ts';
import { serverSchema } from '../schema.ts';

test('file kind: each top key of either schema tells which it is', () => {
  const servers = Object.keys(serverSchema.shape);
  assert.deepEqual([...SERVER_KEYS, 'server'].sort(), servers.sort());
  for (const key of servers) assert.equal(kindOfFile(`[${key}]\n`), 'server', key);
  for (const key of Object.keys(agentSchema.shape)) assert.equal(kindOfFile(`${key} = "x"\n`), 'agent', key);
  assert.equal(kindOfFile(readFileSync('config.example.toml', 'utf8')), 'server');
});

test('file kind: a table in a table, a comment and an empty file tell nothing', () => {
  assert.equal(kindOfFile('[backup.more]\ntoken_file = "x"\n'), 'server');
  assert.equal(kindOfFile('server = { data_threads = 0 }\n'), 'server');
  assert.equal(kindOfFile('# tunnels = 1\n'), undefined);
  assert.equal(kindOfFile('wrong = 1\n'), undefined);
});

test('file kind: the lines that look like keys decide in a text that is not TOML', () => {
  assert.equal(kindOfFile('server = \n'), 'agent');
  assert.equal(kindOfFile('[tunnels.web\ntarget = 1\n'), 'agent');
  assert.equal(kindOfFile('x = \n[tunnels.web]\n'), 'agent');
  assert.equal(kindOfFile('data_dir = \n'), 'server');
  assert.equal(kindOfFile('data_dir = "x"\n[edge]\nserver = \n'), 'server');
});
