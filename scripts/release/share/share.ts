/** Completion scripts and the man page, at the places below `share` where shells and `man` look for them. */
import { gzipSync } from 'node:zlib';
import { COMMANDS } from '../../../src/cli/commands.ts';
import { completionScript } from '../../../src/cli/completion/completion.ts';
import type { Entry } from '../tar.ts';
import { manPage } from './man-page.ts';

/** Debian keeps completions of packages apart from those of the machine's own; all others have one folder. */
const ZSH = { debian: 'vendor-completions', other: 'site-functions' } as const;

export interface ShareOptions {
  readonly version: string;
  readonly epoch: number;
  readonly system: keyof typeof ZSH;
  /** As the rules of Debian want it; archives have text. */
  readonly isPacked: boolean;
}

/** The files, by names without `share/` in front. */
export function shareEntries({ version, epoch, system, isPacked }: ShareOptions): Entry[] {
  const page = Buffer.from(manPage(version, epoch));
  const files: [string, Buffer | string][] = [
    ['bash-completion/completions/culvert', completionScript('bash', COMMANDS)],
    ['fish/vendor_completions.d/culvert.fish', completionScript('fish', COMMANDS)],
    isPacked ? ['man/man1/culvert.1.gz', gzipSync(page, { level: 9 })] : ['man/man1/culvert.1', page],
    [`zsh/${ZSH[system]}/_culvert`, completionScript('zsh', COMMANDS)],
  ];
  return files.map(([name, content]) => ({ name, mode: 0o644, content: Buffer.from(content) }));
}
