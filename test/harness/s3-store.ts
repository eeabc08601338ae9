/**
 * A store that speaks S3, strict: it verifies each signature from the text of Amazon's documentation, by code of its own, compares the hash of each
 * body, and refuses what real stores refuse. Addressed by path, one bucket, pages of `pageSize` names.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { Ends } from './ends.ts';

export const S3_KEYS = { access: 'AKIDSTORE', secret: 'a/secret+key=of the store'.replaceAll(' ', '') };
const REGION = 'eu-test-1';
export const S3_BUCKET = 'backups';

export interface S3StoreFixture {
  readonly endpoint: string;
  readonly region: string;
  readonly objects: Map<string, Buffer>;
  /** Requests that were refused, with the reason. */
  readonly refused: string[];
  /** The next so many requests get 503. */
  busy: number;
}

export async function startS3Store(t: Ends, pageSize = 2): Promise<S3StoreFixture> {
  const fixture = { objects: new Map<string, Buffer>(), refused: [] as string[], busy: 0, region: REGION };
  const server = createServer((request, response) => {
    void buffer(request).then((body) => answer(request, body, response));
  });
  const answer = (request: IncomingMessage, body: Buffer, response: ServerResponse): void => {
    const refuse = (status: number, code: string): void => {
      fixture.refused.push(code);
      response
        .writeHead(status)
        .end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>no &amp; no</Message></Error>`);
    };
    if (fixture.busy > 0) {
      fixture.busy--;
      return refuse(503, 'SlowDown');
    }
    const fault = faultOf(request, body);
    if (fault !== undefined) return refuse(403, fault);
    const url = new URL(request.url ?? '/', 'http://store');
    const [, bucket, ...rest] = url.pathname.split('/').map(decodeURIComponent);
    if (bucket !== S3_BUCKET) return refuse(404, 'NoSuchBucket');
    const key = rest.join('/');
    if (request.method === 'PUT') fixture.objects.set(key, body);
    else if (request.method === 'DELETE') fixture.objects.delete(key);
    else return void response.end(page(url.searchParams));
    response.writeHead(request.method === 'PUT' ? 200 : 204).end();
  };
  const page = (query: URLSearchParams): string => {
    const prefix = query.get('prefix') ?? '';
    const after = query.get('continuation-token') ?? '';
    const keys = [...fixture.objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
    const shown = keys.slice(0, pageSize);
    const items = shown.map((key) => {
      const name = key.replaceAll('&', '&amp;');
      return `<Contents><Key>${name}</Key><Size>${fixture.objects.get(key)?.length ?? 0}</Size></Contents>`;
    });
    const isCut = keys.length > shown.length;
    const next = isCut ? `<NextContinuationToken>${shown.at(-1) ?? ''}</NextContinuationToken>` : '';
    return `<?xml version="1.0"?><ListBucketResult><IsTruncated>${isCut}</IsTruncated>${next}${items.join('')}</ListBucketResult>`;
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return Object.assign(fixture, { endpoint: `http://127.0.0.1:${port}` });
}

/** The code of S3 for a request that is not signed as it must be. */
function faultOf({ method = '', url = '', headers }: IncomingMessage, body: Buffer): string | undefined {
  const parts =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? '',
    );
  if (parts === null) return 'AccessDenied';
  const [, access = '', day = '', region = '', names = '', signature = ''] = parts;
  const time = String(headers['x-amz-date']);
  const hash = String(headers['x-amz-content-sha256']);
  if (access !== S3_KEYS.access) return 'InvalidAccessKeyId';
  if (region !== REGION) return 'AuthorizationHeaderMalformed';
  const at = Date.parse(time.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
  if (!time.startsWith(day) || !(Math.abs(Date.now() - at) < 15 * 60_000)) return 'RequestTimeTooSkewed';
  if (hash !== createHash('sha256').update(body).digest('hex')) return 'XAmzContentSHA256Mismatch';
  for (const needed of ['host', 'x-amz-content-sha256', 'x-amz-date'])
    if (!names.split(';').includes(needed)) return 'AccessDenied';
  const [path = '', query = ''] = url.split('?');
  // As it came: what is not escaped as the documentation wants gives another signature at real stores.
  const escaped = path.replaceAll(
    /[^A-Za-z0-9\-._~/%]/g,
    (sign) => `%${Buffer.from(sign).toString('hex').toUpperCase()}`,
  );
  const pairs =
    query === ''
      ? []
      : query
          .split('&')

          .sort();
  const lines = names.split(';').map((name) => `${name}:${String(headers[name]).trim()}\n`);
  const canonical = `${method}\n${escaped}\n${pairs.join('&')}\n${lines.join('')}\n${names}\n${hash}`;
  const text = `AWS4-HMAC-SHA256\n${time}\n${day}/${region}/s3/aws4_request\n${createHash('sha256').update(canonical).digest('hex')}`;
  const mac = (key: string | Buffer, data: string): Buffer => createHmac('sha256', key).update(data).digest();
  const key = mac(mac(mac(mac(`AWS4${S3_KEYS.secret}`, day), region), 's3'), 'aws4_request');
  return timingSafeEqual(mac(key, text), Buffer.from(signature, 'hex')) ? undefined : 'SignatureDoesNotMatch';
}
