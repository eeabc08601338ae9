/** Socket units: systemd holds the listeners of the server, so that visitors and agents wait while it restarts. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { dirname, join } from 'node:path';
import { formatHostPort, type HostPort } from '../../base/net/addr.ts';
import type { Settings } from '../../config/schema.ts';
import { readIfThere } from './config-file.ts';
import { type Done, UNIT_FOLDERS } from './service.ts';

const HEADING = '# Written by culvert setup, with the address of the settings; change it by another setup, not here.';
const [FOLDER] = UNIT_FOLDERS;

interface Listener {
  readonly unit: string;
  /** FileDescriptorName=, which the server knows. */
  readonly name: string;
  readonly backlog: number;
  readonly at: HostPort | null;
}

export interface Sockets {
  readonly done: Done;
  /** Units of the listeners that the settings have. */
  readonly held: readonly string[];
  /** Units of listeners that the settings turn off: the server does not start beside them. */
  readonly idle: readonly string[];
}

/** Writes a unit for each listener. A unit of a package or of the install script stays, and gets the address by a drop-in. */
export function ensureSockets(root: string, settings: Settings): Sockets {
  const listeners = listenersOf(settings).map((listener) => ({ ...listener, stream: streamOf(listener.at) }));
  const held = listeners.filter(({ stream }) => stream !== undefined);
  const idle = listeners.filter(({ stream, unit }) => stream === undefined && textsOf(root, unit).length > 0);
  const units = held.map(({ unit }) => unit);
  const written = [...held.map((listener) => ensureSocket(root, listener)), linkService(root, units)];
  return {
    done: written.includes(true) ? 'written' : 'unchanged',
    held: units,
    idle: idle.map(({ unit }) => unit),
  };
}

function listenersOf({ edge, agents, api }: Settings): Listener[] {
  const https = edge.tls.mode === 'off' ? null : edge.https_listen;
  return [
    { unit: 'culvert.socket', name: 'http', backlog: 4096, at: edge.http_listen },
    { unit: 'culvert-https.socket', name: 'https', backlog: 4096, at: https },
    { unit: 'culvert-agents.socket', name: 'agents', backlog: 1024, at: agents.listen },
    { unit: 'culvert-api.socket', name: 'api', backlog: 512, at: api.listen },
  ];
}

/** A port alone is all addresses of both families. Undefined for what systemd can't hold: a name, or a port that the system chooses. */
function streamOf(at: HostPort | null): string | undefined {
  if (at === null || at.port === 0 || isIP(at.host) === 0) return undefined;
  return at.host === '::' ? String(at.port) : formatHostPort(at);
}

/** What each folder of systemd has under this name. */
function textsOf(root: string, unit: string): string[] {
  return UNIT_FOLDERS.flatMap((folder) => readIfThere(join(root + folder, unit)) ?? []);
}

/** True when it was written. */
function ensureSocket(root: string, listener: Listener & { readonly stream: string | undefined }): boolean {
  const { unit, stream } = listener;
  const file = join(root + FOLDER, unit);
  const isForeign = textsOf(root, unit).some((text) => !text.startsWith(HEADING));
  // An empty value first: the address of the unit itself goes.
  return isForeign
    ? put(`${file}.d/culvert-setup.conf`, `${HEADING}\n[Socket]\nListenStream=\nListenStream=${stream}\n`)
    : put(file, unitText(listener));
}

/** A start of the service starts its sockets first: a server that has bound its ports itself keeps them from the units. */
function linkService(root: string, units: readonly string[]): boolean {
  const text = `${HEADING}\n[Service]\nSockets=${units.join(' ')}\n`;
  return put(join(root + FOLDER, 'culvert.service.d/culvert-setup.conf'), text);
}

function put(file: string, text: string): boolean {
  if (readIfThere(file) === text) return false;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text, { mode: 0o644 });
  return true;
}

function unitText({ name, stream, backlog }: Listener & { readonly stream: string | undefined }): string {
  return `${HEADING}
[Unit]
Description=Culvert tunnel server: ${name} socket

[Socket]
ListenStream=${stream}
FileDescriptorName=${name}
Service=culvert.service
Backlog=${backlog}

[Install]
WantedBy=sockets.target
`;
}
