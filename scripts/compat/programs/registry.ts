/** A registry of container images, with skopeo as its client: an image there and back. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { writeFileSync } from 'node:fs';
import type { Kit } from '../kit.ts';
import type { CompatProgram } from '../program.ts';

const TYPE = 'application/vnd.oci.image';
const LAYER = 20_000_000;

export const registry: CompatProgram = {
  name: 'docker-registry with skopeo',
  checks: 'push and pull an image of 20 MB, digests compared',
  async start(kit) {
    await kit.needs({ 'docker-registry': 'docker-registry', skopeo: 'skopeo' });
    const port = await kit.freePort();
    kit.write({ 'registry.yml': configuration(kit.folder, port) });
    writeImage(kit);
    await kit.serve(['docker-registry', 'serve', join(kit.folder, 'registry.yml')], port);
    const versions = await Promise.all(['docker-registry', 'skopeo'].map((name) => kit.run([name, '--version'])));
    let visits = 0;
    return {
      version: versions.map((text) => /\d+\.\d+\.\d+/.exec(text)?.[0] ?? '').join(', '),
      port,
      async check({ url, proxyUrl, certFile }) {
        const visit = `visit-${++visits}`;
        const env = { HTTPS_PROXY: proxyUrl, SSL_CERT_FILE: certFile };
        const skopeo = (...args: string[]): Promise<string> =>
          kit.run(['skopeo', '--insecure-policy', ...args], { env });
        const remote = `docker://${url.host}/${visit}:1`;
        await skopeo('copy', `oci:${kit.folder}/image:1`, remote);
        await skopeo('copy', remote, `oci:${kit.folder}/${visit}:1`);
        const images = [`oci:${kit.folder}/image:1`, remote, `oci:${kit.folder}/${visit}:1`];
        const digests = await Promise.all(images.map((image) => skopeo('inspect', '--format', '{{.Digest}}', image)));
        assert.equal(new Set(digests).size, 1, digests.join(' '));
      },
    };
  },
};

/** An image of one layer in the folder `image`, as OCI lays it out. */
function writeImage(kit: Kit): void {
  kit.makeFolder('image');
  kit.write({ 'image/oci-layout': '{"imageLayoutVersion":"1.0.0"}', 'image/blobs/sha256/.keep': '' });
  const put = (mediaType: string, bytes: Buffer): object => {
    const hex = createHash('sha256').update(bytes).digest('hex');
    writeFileSync(join(kit.folder, 'image/blobs/sha256', hex), bytes);
    return { mediaType, digest: `sha256:${hex}`, size: bytes.length };
  };
  const content = randomBytes(LAYER);
  const diff = `sha256:${createHash('sha256').update(content).digest('hex')}`;
  const about = { architecture: 'amd64', os: 'linux', config: {}, rootfs: { type: 'layers', diff_ids: [diff] } };
  const layers = [put(`${TYPE}.layer.v1.tar+gzip`, gzipSync(content))];
  const config = put(`${TYPE}.config.v1+json`, Buffer.from(JSON.stringify(about)));
  const manifest = { schemaVersion: 2, mediaType: `${TYPE}.manifest.v1+json`, config, layers };
  const entry = put(`${TYPE}.manifest.v1+json`, Buffer.from(JSON.stringify(manifest)));
  const named = { ...entry, annotations: { 'org.opencontainers.image.ref.name': '1' } };
  kit.write({ 'image/index.json': JSON.stringify({ schemaVersion: 2, manifests: [named] }) });
}

function configuration(folder: string, port: number): string {
  return `version: 0.1
log: { level: error }
storage: { filesystem: { rootdirectory: ${folder}/storage } }
http: { addr: "127.0.0.1:${port}" }
`;
}
