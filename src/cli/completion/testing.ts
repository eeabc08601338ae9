/** What a real shell offers behind a line, with the script of `culvert completion`. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

export type TestedShell = keyof typeof DRIVERS;

/** `$1` is the script, `$2` the line; each prints what it would offer, a line each. */
const DRIVERS = {
  bash: {
    args: ['--norc', '--noprofile'],
    text: `source "$1"
read -ra COMP_WORDS <<<"\${2//=/ = }"
if [[ $2 == *' ' || $2 == *= ]]; then COMP_WORDS+=(''); fi
COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
_culvert
printf '%s\\n' "\${COMPREPLY[@]}"
`,
  },
  fish: {
    args: ['--no-config'],
    text: `source $argv[1]
complete -C $argv[2] | string replace -r '\\t.*' ''
or true
`,
  },
  // A shell on a terminal of its own, whose compadd prints what it is given. Null bytes stand around that.
  zsh: {
    args: ['-f'],
    text: `zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "source \${(q)0:h}/inside.zsh \${(q)1}"
while zpty -r shell line && [[ $line != ready* ]]; do :; done
zpty -w -n shell "$2"$'\\t'
integer between=0
while zpty -r shell; do :; done | while IFS= read -r line; do
  if [[ $line == *$'\\0'* ]]; then
    ((between++)) && exit 0
  elif ((between)); then
    print -r -- "\${line%$'\\r'}"
  fi
done
`,
  },
} as const;

const INSIDE_ZSH = `PROMPT=
autoload -Uz compinit
# Kept for the next line of the test: finding all functions of zsh takes a second.
compinit -u -d ~/zcompdump
zstyle ':completion:*' insert-tab false
bindkey '^M' undefined-key
bindkey '^J' undefined-key
bindkey '^I' complete-word
null-line() { print -r -- $'\\0' }
compprefuncs=(null-line)
comppostfuncs=(null-line exit)
compadd() {
  if [[ \${@[1,(i)(-|--)]} == *-(O|A|D)\\ * ]]; then
    builtin compadd "$@"
    return
  fi
  typeset -a hits
  builtin compadd -A hits "$@"
  print -rl -- $hits
  builtin compadd "$@"
}
source "$1"
print ready
`;

interface Asked {
  readonly home: string;
  /** Where the shell is. */
  readonly folder: string;
  readonly script: string;
  readonly line: string;
}

/** Sorted, without the slash that a shell puts behind and the flag that it puts before. */
export function offered(shell: TestedShell, { home, folder, script, line }: Asked): string[] {
  const { args, text } = DRIVERS[shell];
  const files = { script, driver: text, 'inside.zsh': INSIDE_ZSH };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(home, name), content);
  const command = [...args, join(home, 'driver'), join(home, 'script'), line];
  const env = { PATH: process.env['PATH'], HOME: home, TERM: 'dumb' };
  const printed = execFileSync(shell, command, { cwd: folder, env, encoding: 'utf8', timeout: 20_000 });
  const words = printed.split('\n').map((word) => word.trim().replace(/^--[a-z-]+=|\/$/g, ''));
  return [...new Set(words.filter((word) => word !== ''))].sort();
}
