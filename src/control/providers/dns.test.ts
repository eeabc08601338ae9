import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SERVFAIL, startDns } from '../../../test/harness/dns.ts';
import { DnsTxtRecords } from './dns.ts';

test('each record comes in one piece, however it is cut', async (t) => {
  const dns = await startDns(t);
  dns.txt.set('_x.example.net', [['one'], ['two ', 'halves'], ['']]);
  const records = new DnsTxtRecords([dns.address]);
  assert.deepEqual([...(await records.lookUp('_x.example.net'))].sort(), ['', 'one', 'two halves']);
});

test('no such name and no such record are both none', async (t) => {
  const dns = await startDns(t);
  dns.txt.set('bare.example.net', []);
  const records = new DnsTxtRecords([dns.address]);
  assert.deepEqual(await records.lookUp('gone.example.net'), []);
  assert.deepEqual(await records.lookUp('bare.example.net'), []);
  assert.deepEqual(dns.asked, ['gone.example.net', 'bare.example.net']);
});

test('a server that fails, and one that is not there, say nothing about the record', async (t) => {
  const dns = await startDns(t);
  dns.rcode = SERVFAIL;
  for (const server of [dns.address, '127.0.0.1:1']) {
    await assert.rejects(new DnsTxtRecords([server]).lookUp('x.example.net'), { code: 'unavailable' }, server);
  }
});
