import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSafeName, parseUrlPath } from './url-path.ts';

test('url path: names are decoded once', () => {
  assert.deepEqual(parseUrlPath('/a%20b/c%252e?x=/../'), { names: ['a b', 'c%2e'], isFolder: false, query: '?x=/../' });
  assert.deepEqual(parseUrlPath('/'), { names: [], isFolder: true, query: '' });
  assert.deepEqual(parseUrlPath('/a/'), { names: ['a'], isFolder: true, query: '' });
  assert.equal(parseUrlPath('http://x/a'), 'malformed');
  assert.equal(parseUrlPath('*'), 'malformed');
});

test('url path: on Windows names of devices, drives and streams are no files', () => {
  for (const name of ['C:', 'a.txt::$DATA', 'nul', 'CON.txt', 'com1', 'x.', 'x ', 'a?b', 'lpt¹'])
    assert.equal(isSafeName(name, 'win32'), false, name);
  for (const name of ['console', 'a b', 'x.txt', 'compass']) assert.equal(isSafeName(name, 'win32'), true, name);
  assert.equal(isSafeName('a:b', 'linux'), true);
});
