/** `file:///srv/www` as a target, and the folder of `culvert files`: checked once, at the start. */
import { statSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { codeOf, messageOf } from '../../base/errors.ts';
import type { LocalTarget } from '../local/target.ts';
import { Folder } from './folder.ts';

/** The server keeps a port for each tunnel, for display; a folder has none. */
const NO_PORT = 80;

export interface FolderChoice {
  readonly spa: boolean;
  readonly listing: boolean;
}

/** The path of a URL such as `file:///srv/www`; undefined: it is no such URL. What is behind `file://` without a slash is relative to `base`. */
export function folderOfUrl(text: string, base: string): string | undefined {
  if (!/^file:/i.test(text)) return undefined;
  const rest = text.replace(/^file:(?:\/\/)?/i, '');
  if (!rest.startsWith('/')) return resolve(base, rest);
  try {
    return fileURLToPath(`file://${rest}`);
  } catch {
    return resolve(base, rest);
  }
}

/** The folder as a target, or why it can't be one. */
export function folderTarget(path: string, { spa, listing }: FolderChoice): LocalTarget | { readonly why: string } {
  try {
    if (!statSync(path).isDirectory()) return { why: `${path} is a file. Name its folder` };
  } catch (error) {
    return {
      why: codeOf(error) === 'ENOENT' ? `there is no folder ${path}` : `${path} can't be read: ${messageOf(error)}`,
    };
  }
  return {
    // The server shows it to others: where the folder is on this machine is not their affair.
    text: `folder ${basename(path) || '/'}`,
    hosts: [],
    port: NO_PORT,
    tls: false,
    verifyTls: false,
    serverName: undefined,
    proxyProtocol: false,
    inProcess: new Folder({ root: path, spa, listing }),
  };
}
