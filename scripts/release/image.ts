/**
 * A container image without a daemon: one tar in the layout of OCI, with the list that `docker load` reads beside it. Two layers: the libraries
 * of C and C++ with certificates, which change seldom, and the program. No shell, no package manager, user 65532.
 */
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { sha256 } from '../../src/base/release/verify.ts';
import { type Release, TEST_FILE, TEST_NOTE, withFolders } from './contents.ts';
import { type Entry, makeTar } from './tar.ts';
import type { Target } from './targets.ts';

type Machine = NonNullable<Target['machine']>;

/** A file of this machine that goes into the image. */
export interface Library {
  readonly name: string;
  readonly path: string;
  readonly content: Buffer;
}

const LIBRARIES = [
  ...['libc.so.6', 'libdl.so.2', 'libgcc_s.so.1', 'libm.so.6', 'libnss_dns.so.2', 'libnss_files.so.2'],
  ...['libpthread.so.0', 'libresolv.so.2', 'librt.so.1', 'libstdc++.so.6'],
];
const LOADERS: Readonly<Record<string, string>> = {
  amd64: 'lib64/ld-linux-x86-64.so.2',
  arm64: 'lib/ld-linux-aarch64.so.1',
};
const USER = 65_532;

/** @throws with the Debian packages that are missing. */
export function findLibraries({ triple, oci }: Machine): Library[] {
  const folders = [`/usr/lib/${triple}`, `/lib/${triple}`, `/usr/${triple}/lib`];
  const loader = LOADERS[oci]?.split('/')[1] ?? '';
  return [...LIBRARIES, loader].sort().map((name) => {
    const path = folders.map((folder) => join(folder, name)).find(existsSync);
    if (path === undefined) {
      const packages = [`libc6-${oci}-cross`, `libstdc++6-${oci}-cross`, `libgcc-s1-${oci}-cross`];
      throw new Error(
        `${name} for ${oci} is not here (Debian: ${packages.join(' ')}). Install it, or leave the image out: --kinds`,
      );
    }
    return { name, path, content: readFileSync(realpathSync(path)) };
  });
}

/** The image as a tar: `docker load`, `podman load` and `skopeo copy oci-archive:…` take it. */
export function makeImage(
  machine: Machine,
  program: Buffer,
  { release, libraries }: { release: Release; libraries: readonly Library[] },
): Buffer {
  const { epoch, version, isTest } = release;
  const layers = [baseEntries(machine, { libraries, isTest }), [file('usr/bin/culvert', program, 0o755)]].map(
    (entries) => makeTar(withFolders(entries), epoch),
  );
  const created = new Date(epoch * 1000).toISOString();
  const blobs = new Map<string, Buffer>();
  const put = (content: Buffer, mediaType: string) => {
    const hash = sha256(content);
    blobs.set(hash, content);
    return { mediaType, digest: `sha256:${hash}`, size: content.length };
  };
  const descriptors = layers.map((layer) =>
    put(gzipSync(layer, { level: 9 }), 'application/vnd.oci.image.layer.v1.tar+gzip'),
  );
  const config = put(
    json({
      created,
      architecture: machine.oci,
      os: 'linux',
      config: runConfig(release),
      rootfs: { type: 'layers', diff_ids: layers.map((layer) => `sha256:${sha256(layer)}`) },
      history: layers.map(() => ({ created, created_by: 'npm run release' })),
    }),
    'application/vnd.oci.image.config.v1+json',
  );
  const manifestType = 'application/vnd.oci.image.manifest.v1+json';
  const manifest = put(json({ schemaVersion: 2, mediaType: manifestType, config, layers: descriptors }), manifestType);
  const index = {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.index.v1+json',
    manifests: [
      {
        ...manifest,
        platform: { architecture: machine.oci, os: 'linux' },
        annotations: {
          'org.opencontainers.image.ref.name': version,
          'io.containerd.image.name': `docker.io/library/culvert:${version}`,
        },
      },
    ],
  };
  const path = (digest: string): string => `blobs/sha256/${digest.slice('sha256:'.length)}`;
  const forDocker = [
    {
      Config: path(config.digest),
      RepoTags: [`culvert:${version}`],
      Layers: descriptors.map(({ digest }) => path(digest)),
    },
  ];
  const entries = [
    ...[...blobs].sort(([a], [b]) => (a < b ? -1 : 1)).map(([hash, content]) => file(`blobs/sha256/${hash}`, content)),
    file('index.json', json(index)),
    file('manifest.json', json(forDocker)),
    file('oci-layout', json({ imageLayoutVersion: '1.0.0' })),
  ];
  return makeTar(withFolders(entries), epoch);
}

const file = (name: string, content: Buffer | string, mode = 0o644): Entry => ({
  name,
  mode,
  content: Buffer.from(content),
});
const folder = (name: string, mode: number, owner = 0): Entry => ({
  name,
  mode,
  owner,
  content: Buffer.alloc(0),
  kind: 'folder',
});
const link = (name: string, target: string): Entry => ({
  name,
  target,
  mode: 0o777,
  content: Buffer.alloc(0),
  kind: 'link',
});
const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

/** Everything but the program. `/data` is of the image's user. */
function baseEntries(
  { triple, oci }: Machine,
  { libraries, isTest }: { libraries: readonly Library[]; isTest: boolean },
): Entry[] {
  const loader = LOADERS[oci] ?? '';
  const [loaderFolder, loaderName] = loader.split('/');
  const toLibraries = loaderFolder === 'lib' ? triple : `../lib/${triple}`;
  return [
    link('bin', 'usr/bin'),
    folder('data', 0o700, USER),
    ...['dev', 'etc', 'proc', 'sys'].map((name) => folder(name, 0o755)),
    folder('etc/culvert', 0o755),
    file('etc/group', `root:x:0:\nculvert:x:${USER}:\n`),
    file('etc/nsswitch.conf', 'hosts: files dns\n'),
    file('etc/passwd', `root:x:0:0:root:/:/sbin/nologin\nculvert:x:${USER}:${USER}:culvert:/data:/sbin/nologin\n`),
    file('etc/ssl/certs/ca-certificates.crt', `${rootCertificates.join('\n')}\n`),
    ...(isTest ? [file(TEST_FILE, TEST_NOTE)] : []),
    link('lib', 'usr/lib'),
    link('lib64', 'usr/lib64'),
    folder('tmp', 0o1777),
    folder('usr', 0o755),
    folder('usr/lib', 0o755),
    ...libraries.map(({ name, content }) => file(`usr/lib/${triple}/${name}`, content, 0o755)),
    folder('usr/lib64', 0o755),
    link(`usr/${loader}`, `${toLibraries}/${loaderName}`),
  ];
}

function runConfig({ version, isTest }: Release): object {
  return {
    User: `${USER}:${USER}`,
    Env: ['PATH=/usr/bin', 'SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt'],
    Entrypoint: ['/usr/bin/culvert'],
    Cmd: ['serve', '--config', '/etc/culvert/culvert.toml'],
    WorkingDir: '/data',
    Volumes: { '/data': {} },
    ExposedPorts: { '80/tcp': {}, '443/tcp': {}, '7443/tcp': {} },
    StopSignal: 'SIGTERM',
    Labels: {
      'org.opencontainers.image.title': 'culvert',
      'org.opencontainers.image.version': version,
      'org.opencontainers.image.licenses': 'Apache-2.0',
      ...(isTest ? { 'org.opencontainers.image.description': TEST_NOTE } : {}),
    },
  };
}
