/** nginx with static files: a large file whole and in part, 304, compression. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { CompatProgram } from '../program.ts';

export const nginx: CompatProgram = {
  name: 'nginx',
  checks: 'file of 20 MB, range, ETag, gzip, redirect of a folder',
  async start(kit) {
    await kit.needs({ nginx: 'nginx-light' });
    const port = await kit.freePort();
    const page = 'compat\n'.repeat(1000);
    const big = randomBytes(20_000_000);
    kit.write({ 'site/folder/index.html': page, 'nginx.conf': configuration(kit.folder, port) });
    writeFileSync(join(kit.folder, 'site/big.bin'), big);
    await kit.serve(['nginx', '-p', kit.folder, '-c', join(kit.folder, 'nginx.conf')], port);
    const [, version = ''] = /nginx\/(\S+)/.exec(await kit.run(['nginx', '-v'])) ?? [];
    return {
      version,
      port,
      async check({ ask, url }) {
        const whole = await ask('/big.bin');
        assert.ok(whole.bytes.equals(big), 'the file arrives whole');
        const part = await ask('/big.bin', { headers: { range: 'bytes=1000-1999' } });
        assert.equal(part.status, 206);
        assert.ok(part.bytes.equals(big.subarray(1000, 2000)));
        const seen = await ask('/big.bin', { headers: { 'if-none-match': whole.headers.etag ?? '' } });
        assert.equal(seen.status, 304);
        const packed = await ask('/folder/', { headers: { 'accept-encoding': 'gzip' } });
        assert.equal(gunzipSync(packed.bytes).toString(), page);
        assert.equal(new URL((await ask('/folder')).headers.location ?? '', url).pathname, '/folder/');
      },
    };
  },
};

function configuration(folder: string, port: number): string {
  return `daemon off;
user root;
pid ${folder}/nginx.pid;
error_log stderr;
events {}
http {
  access_log off;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  types { text/html html; }
  gzip on;
  server { listen 127.0.0.1:${port}; root ${folder}/site; }
}
`;
}
