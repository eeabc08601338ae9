/**
 * Starts the origin and the proxies that Culvert is compared with, each as its users would set it up to be fast: nginx and haproxy as plain local
 * proxies with kept connections to the origin, and nginx with TLS to the visitor. OpenSSH is in ssh.ts.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, type Processes } from './processes.ts';
import type { Subject } from './subject.ts';
import type { Tools } from './tools.ts';

export interface Certificate {
  readonly certFile: string;
  readonly keyFile: string;
}

/** Starts the origin and gives the direct way to it. */
export async function startOrigin(
  processes: Processes,
  tools: Tools,
  place: { readonly name: string; readonly address: string; readonly netns?: string },
): Promise<Subject> {
  const port = await freePort();
  processes.start(place.name, [tools.program('origin'), place.address, String(port)], { netns: place.netns });
  await processes.waitForOutput(place.name, /ready/);
  return { name: 'direct', scheme: 'http', address: place.address, port, processes: [] };
}

/** A certificate for the benchmark's names, by openssl: the same file for all subjects, so that handshakes cost the same. */
export async function makeCertificate(processes: Processes): Promise<Certificate> {
  const certFile = join(processes.folder, 'cert.pem');
  const keyFile = join(processes.folder, 'key.pem');
  const outcome = await processes.run([
    'openssl',
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '7'],
    ...['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,DNS:*.localhost'],
    ...['-keyout', keyFile, '-out', certFile],
  ]);
  if (outcome.code !== 0) throw new Error(`openssl: ${outcome.stderr}`);
  return { certFile, keyFile };
}

/** TLS as Culvert's edge has it: the client's own preference would give nginx the dearer cipher. */
const TLS_TERMS = `
    ssl_protocols TLSv1.3;
    ssl_conf_command Ciphersuites TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256;
    ssl_prefer_server_ciphers on;
    ssl_ecdh_curve X25519:prime256v1;`;

/** nginx with one worker; with a certificate it speaks TLS 1.3 to the visitor, and HTTP/2 with those that ask for it. Undefined when nginx is absent. */
export async function startNginx(
  processes: Processes,
  tools: Tools,
  options: { readonly originPort: number; readonly certificate?: Certificate },
): Promise<Subject | undefined> {
  const nginx = tools.find('nginx');
  if (nginx === undefined) return undefined;
  const tls = options.certificate;
  const name = tls === undefined ? 'nginx' : 'nginx-tls';
  const port = await freePort();
  const folder = processes.makeFolder(name);
  const file = join(folder, 'nginx.conf');
  writeFileSync(file, nginxConfig({ folder, port, originPort: options.originPort, tls }));
  processes.start(name, [nginx, '-e', join(folder, 'error.log'), '-c', file]);
  await processes.waitForPort(name, port);
  return { name, scheme: tls === undefined ? 'http' : 'https', address: '127.0.0.1', port, processes: [name] };
}

function nginxConfig(options: {
  readonly folder: string;
  readonly port: number;
  readonly originPort: number;
  readonly tls: Certificate | undefined;
}): string {
  const { folder, port, originPort, tls } = options;
  const temp = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${folder}/${kind};`,
  );
  return `
worker_processes 1;
daemon off;
${process.getuid?.() === 0 ? 'user root;' : ''}
pid ${folder}/pid;
error_log ${folder}/error.log warn;
events { worker_connections 8192; }
http {
  access_log off;
  keepalive_requests 1000000000;
  client_max_body_size 0;
  proxy_request_buffering off;
  ${temp.join('\n  ')}
  upstream origin { server 127.0.0.1:${originPort}; keepalive 256; keepalive_requests 1000000000; }
  server {
    listen 127.0.0.1:${port} backlog=4096 ${tls === undefined ? '' : 'ssl http2'};
    ${tls === undefined ? '' : `ssl_certificate ${tls.certFile}; ssl_certificate_key ${tls.keyFile};${TLS_TERMS}`}
    location / {
      proxy_pass http://origin;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $host;
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_set_header X-Forwarded-Proto $scheme;
      proxy_set_header X-Forwarded-Host $host;
      proxy_buffer_size 16k;
      proxy_buffers 8 64k;
      proxy_max_temp_file_size 0;
    }
  }
}
`;
}

/** haproxy with one thread. Undefined when it is absent. */
export async function startHaproxy(
  processes: Processes,
  tools: Tools,
  originPort: number,
): Promise<Subject | undefined> {
  const haproxy = tools.find('haproxy');
  if (haproxy === undefined) return undefined;
  const port = await freePort();
  const file = join(processes.folder, 'haproxy.cfg');
  writeFileSync(
    file,
    `
global
  nbthread 1
  maxconn 8000
defaults
  mode http
  timeout client 60s
  timeout server 60s
  timeout connect 5s
  http-reuse always
frontend visitors
  bind 127.0.0.1:${port}
  use_backend events if { path /events }
  default_backend origin
backend origin
  option forwardfor
  server origin 127.0.0.1:${originPort}
# Without http-no-delay haproxy holds events back for up to 200 ms; with it everywhere it would be slower elsewhere.
backend events
  option forwardfor
  option http-no-delay
  server origin 127.0.0.1:${originPort}
`,
  );
  processes.start('haproxy', [haproxy, '-db', '-f', file]);
  await processes.waitForPort('haproxy', port);
  return { name: 'haproxy', scheme: 'http', address: '127.0.0.1', port, processes: ['haproxy'] };
}
