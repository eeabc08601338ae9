import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSmtpUrl } from './smtp-url.ts';

// biome-ignore format: a table
const read: ReadonlyArray<[url: string, expected: string]> = [
  ['smtp://mail.example.com', 'mail.example.com 587 where_offered verified'],
  ['smtp://mail.example.com:25', 'mail.example.com 25 where_offered verified'],
  ['smtp://ann:secret@mail.example.com', 'mail.example.com 587 required verified as ann/secret'],
  ['smtps://ann:secret@mail.example.com', 'mail.example.com 465 from_start verified as ann/secret'],
  ['SMTPS://mail.example.com:2465/', 'mail.example.com 2465 from_start verified'],
  ['smtp://ann%40x:p%40%2Fw%25@mail.example.com', 'mail.example.com 587 required verified as ann@x/p@/w%'],
  ['smtp://ann:secret@localhost:25', 'localhost 25 where_offered any as ann/secret'],
  ['smtp://127.0.0.1:25', '127.0.0.1 25 where_offered any'],
  ['smtps://[::1]:465', '::1 465 from_start any'],
  ['smtp://127.0.0.1:25?verify=yes', '127.0.0.1 25 where_offered verified'],
  ['smtp://ann:secret@mail.lan?verify=no', 'mail.lan 587 required any as ann/secret'],
];
for (const [url, expected] of read) {
  test(`reads ${url}`, () => {
    const server = readSmtpUrl(url);
    assert.ok(server !== undefined);
    const { host, port, tls, verify, login } = server;
    const as = login === undefined ? '' : ` as ${login.user}/${login.password.reveal()}`;
    assert.equal(`${host} ${port} ${tls} ${verify ? 'verified' : 'any'}${as}`, expected);
  });
}

// biome-ignore format: a table
const refused = [
  'mail.example.com', 'http://h', 'smtp:h', 'smtp://', 'smtp:///h', 'smtp://h:0', 'smtp://h:99999', 'smtp://h/path', 'smtp://h#x', 'smtp://ann@h',
  'smtp://:secret@h', 'smtp://ann:pa#ss@h', 'smtp://ann:12/34@h', 'smtp://ann:50%@h', 'smtp://h?verify=maybe', 'smtp://h?tls=off',
];
for (const url of refused) {
  test(`refuses ${url}`, () => assert.equal(readSmtpUrl(url), undefined));
}
