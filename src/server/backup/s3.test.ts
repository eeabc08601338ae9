/** Signatures against Amazon's published examples, and the client against a strict store. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { S3_BUCKET, S3_KEYS, startS3Store } from '../../../test/harness/s3-store.ts';
import { Secret } from '../../base/secret.ts';
import { checkServerConfig } from '../../config/load.ts';
import { Plane } from '../../control/core/testing/plane.ts';
import { restoreBackup } from './restore.ts';
import { type S3Options, S3Store } from './s3.ts';
import { authorizationOf, sha256 } from './sigv4.ts';
import { runTask, taskOf } from './task.ts';

const folder = mkdtempSync(join(tmpdir(), 'culvert-s3-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const signatureIn = (text: string): string => /Signature=([0-9a-f]+)$/.exec(text)?.[1] ?? '';

test('signature: equals that of the test suite of AWS for version 4', () => {
  const secretKey = new Secret('wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY');
  const credentials = { accessKey: 'AKIDEXAMPLE', secretKey, region: 'us-east-1', service: 'service' };
  const headers = { Host: 'example.amazonaws.com', 'x-amz-date': '20150830T123600Z' };
  const vanilla = { method: 'GET', url: new URL('https://example.amazonaws.com/'), headers, bodyHash: sha256('') };
  assert.equal(
    authorizationOf(vanilla, credentials),
    'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request,SignedHeaders=host;x-amz-date,' +
      'Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
  );
  const query = new URL('https://example.amazonaws.com/?Param2=value2&Param1=value1');
  assert.equal(
    signatureIn(authorizationOf({ ...vanilla, url: query }, credentials)),
    'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
  );
});

test('signature: equals that of the examples in the documentation of S3', () => {
  const secretKey = new Secret('wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY');
  const credentials = { accessKey: 'AKIAIOSFODNN7EXAMPLE', secretKey, region: 'us-east-1', service: 's3' };
  const signed = (method: string, path: string, more: Record<string, string>, body = ''): string => {
    const bodyHash = sha256(body);
    const host = 'examplebucket.s3.amazonaws.com';
    const headers = { host, 'x-amz-content-sha256': bodyHash, 'x-amz-date': '20130524T000000Z', ...more };
    return signatureIn(
      authorizationOf({ method, url: new URL(`https://${host}${path}`), headers, bodyHash }, credentials),
    );
  };
  assert.deepEqual(
    [
      signed('GET', '/test.txt', { Range: 'bytes=0-9' }),
      signed(
        'PUT',
        '/test$file.text',
        { Date: 'Fri, 24 May 2013 00:00:00 GMT', 'x-amz-storage-class': 'REDUCED_REDUNDANCY' },
        'Welcome to Amazon S3.',
      ),
      signed('GET', '/?lifecycle', {}),
      signed('GET', '/?max-keys=2&prefix=J', {}),
    ],
    [
      'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
      '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
      'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
      '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
    ],
  );
});

const optionsFor = (endpoint: string, more: Partial<S3Options> = {}): S3Options => ({
  ...{ endpoint, bucket: S3_BUCKET, prefix: 'a b/ü&$!/', region: 'eu-test-1' },
  ...{ accessKey: S3_KEYS.access, secretKey: new Secret(S3_KEYS.secret) },
  ...more,
});

test('store: uploads, lists over pages, and deletes', async (t) => {
  const s3 = await startS3Store(t);
  const store = new S3Store(optionsFor(s3.endpoint));
  const file = join(folder, 'one');
  writeFileSync(file, Buffer.alloc(300_000, 'x'));
  for (const name of ["it's (1)*.culvert", 'b.culvert', 'c.culvert', 'd.culvert', 'e.culvert'])
    await store.put(name, file);
  s3.objects.set('other/x', Buffer.alloc(1));
  assert.deepEqual(s3.refused, []);
  const listed = await store.list();
  assert.deepEqual(listed.map(({ name }) => name).sort(), [
    'b.culvert',
    'c.culvert',
    'd.culvert',
    'e.culvert',
    "it's (1)*.culvert",
  ]);
  assert.ok(listed.every(({ size }) => size === 300_000));
  await store.remove("it's (1)*.culvert");
  assert.equal((await store.list()).length, 4);
  assert.equal(s3.objects.size, 5);
});

test('store: a busy one is tried again', async (t) => {
  const s3 = await startS3Store(t);
  s3.busy = 1;
  assert.deepEqual(await new S3Store(optionsFor(s3.endpoint)).list(), []);
  assert.deepEqual(s3.refused, ['SlowDown']);
});

test('store: a refusal is reported with its reason and the next step, without a key', async (t) => {
  const s3 = await startS3Store(t);
  for (const [change, message] of [
    [{ secretKey: new Secret('wrong-secret') }, /403 SignatureDoesNotMatch no & no\. Check the two key files/],
    [{ accessKey: 'AKIDOTHER' }, /403 InvalidAccessKeyId/],
    [{ bucket: 'missing' }, /404 NoSuchBucket no & no\. Create the bucket, or correct backup\.s3\.bucket/],
    [{ region: 'us-east-1' }, /AuthorizationHeaderMalformed .*Correct backup\.s3\.endpoint and backup\.s3\.region/],
  ] as const) {
    await assert.rejects(new S3Store(optionsFor(s3.endpoint, change)).list(), (error: Error) => {
      assert.match(error.message, message);
      assert.doesNotMatch(error.message, /wrong-secret/);
      return true;
    });
  }
});

test('store: a scheduled backup goes there encrypted, old ones are deleted, and it restores', async (t) => {
  const s3 = await startS3Store(t);
  const plane = new Plane();
  t.after(() => plane.close());
  for (const [name, text] of [
    ['access', S3_KEYS.access],
    ['secret', S3_KEYS.secret],
    ['pass', 'a passphrase of a test'],
  ] as const)
    writeFileSync(join(folder, name), `${text}\n`);
  const { settings } = checkServerConfig(
    `data_dir = "${plane.dataDir}"
[backup]
keep = 2
passphrase_file = "${join(folder, 'pass')}"
[backup.s3]
endpoint = "${s3.endpoint}"
bucket = "${S3_BUCKET}"
prefix = "shop/"
region = "eu-test-1"
access_key_file = "${join(folder, 'access')}"
secret_key_file = "${join(folder, 'secret')}"
`,
    'x.toml',
  );
  const about = { settingsFile: null, version: '1.0.0', serverId: plane.control.serverId };
  for (let day = 0; day < 3; day++) {
    const { made } = await runTask(
      taskOf(settings, about, { now: plane.now + day * 86_400_000, check: false, last: null }),
    );
    assert.deepEqual([made.places, made.encrypted], [[`s3://${S3_BUCKET}/shop/`], true]);
  }
  const id = about.serverId.slice(0, 8);
  const names = ['20261122T000000Z', '20261123T000000Z'].map((at) => `shop/culvert-${id}-${at}.culvert`);
  assert.deepEqual([...s3.objects.keys()].sort(), names);
  const file = join(folder, 'fetched.culvert');
  writeFileSync(file, s3.objects.get(names[1] ?? '') ?? Buffer.alloc(0));
  const passphrase = new Secret('a passphrase of a test');
  const nowhere = { settingsFile: undefined, settingsFolder: undefined };
  const dataDir = join(folder, 'data');
  assert.equal(restoreBackup({ file, passphrase, dataDir, ...nowhere, now: plane.now }).manifest.culvert, '1.0.0');
});
