/** Commands that use a key which was just made, to be copied. Pure. What is put into them was checked by the server: labels, slugs, a key. */
import type { MintedToken } from '../../api/types.ts';

export interface KeyCommands {
  /** With the key in the environment of the one command. */
  readonly environment: string;
  /** With the key in a file that nobody else can read, and in no history of a shell. */
  readonly file: string;
}

/** `server`: address of the API, with or without a slash at its end. */
export function commandsFor(token: MintedToken, server: URL): KeyCommands {
  const address = server.href.replace(/\/$/, '');
  if (token.kind === 'master') return masterCommands(token.apiKey, address);
  const command = ['culvert http 3000', ...namesFor(token), `--server ${address}`].join(' ');
  return {
    environment: `CULVERT_TOKEN=${token.apiKey} ${command}`,
    file: `${intoFile('culvert.key')}\n${command} --token-file culvert.key`,
  };
}

function masterCommands(key: string, address: string): KeyCommands {
  const mint = 'culvert tokens mint run-1 --project PROJECT --ttl-hours 2 --output-env';
  return {
    environment: `export CULVERT_SERVER=${address} CULVERT_TOKEN=${key}\n${mint}`,
    file: `${intoFile('master.key')}\nCULVERT_TOKEN_FILE=master.key ${mint} --server ${address}`,
  };
}

function intoFile(name: string): string {
  return `(umask 077; cat > ${name})   # paste the key, then Enter and Ctrl+D`;
}

/** A key that may not take every name is shown with one that it may take. */
function namesFor({ kind, projectSlug, allowedSubdomains }: MintedToken): readonly string[] {
  const project = kind === 'project' && projectSlug !== null ? [`--project ${projectSlug}`] : [];
  const [first = '*'] = allowedSubdomains;
  if (allowedSubdomains.includes('*')) return project;
  return [...project, `--subdomain ${first.replace('*', '1')}`];
}
