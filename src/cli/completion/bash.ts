/** Completion for bash 3.2 and later (3.2 is that of macOS), also without the package bash-completion. */
import { allNodes, type CommandNode, type Flag, namesOf, pathsOf, type Values, valuedFlags } from './command-tree.ts';

/** The script. `_culvert_at` is the table; the function around it finds the command that the words before the cursor name. */
export function bashScript(root: CommandNode): string {
  return `# bash completion for culvert. Made by \`culvert completion bash\`.

# Commands and flags of the command "$1".
_culvert_at() {
  commands='' flags=''
  case $1 in
${allNodes(root).map(tableLine).join('\n')}
  esac
}

# Values of flag "$2", or of argument number "$2", of the command "$1".
_culvert_values() {
  case "$1 $2" in
${allNodes(root).flatMap(valueLines).join('\n')}
  esac
}

_culvert_offer() {
  local IFS=$'\\n'
  # shellcheck disable=SC2207 # bash 3.2 has no mapfile
  case $1 in
    file) COMPREPLY=($(compgen -f -- "$2")) ;;
    folder) COMPREPLY=($(compgen -d -- "$2")) ;;
    *) IFS=$' \\n'; COMPREPLY=($(compgen -W "$1" -- "$2")); return ;;
  esac
  compopt -o filenames 2>/dev/null # bash 3.2 has no compopt
}

_culvert() {
  local cur=\${COMP_WORDS[COMP_CWORD]} valued=' ${valuedFlags(root).join(' ')} '
  local commands='' flags='' path='' flag='' word='' end='' glued='' count=0 i
  COMPREPLY=()
  _culvert_at ''
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    # "--flag=value" and "host:port" come as three words.
    if [[ $word == [=:] ]]; then
      glued=yes
    elif [[ -n $flag ]]; then
      flag='' glued=''
    elif [[ -n $glued ]]; then
      glued=''
    elif [[ -z $end && $word == '--' ]]; then
      end=yes
    elif [[ -z $end && $word == -* ]]; then
      if [[ $valued == *" $word "* ]]; then flag=$word; fi
    elif [[ $count == 0 && " $commands " == *" $word "* ]]; then
      path="\${path:+$path }$word"
      _culvert_at "$path"
    else
      count=$((count + 1))
    fi
  done
  if [[ -n $flag ]]; then
    if [[ $cur == '=' ]]; then cur=''; fi
    _culvert_offer "$(_culvert_values "$path" "$flag")" "$cur"
  elif [[ -z $end && $cur == -* ]]; then
    _culvert_offer "$flags" "$cur"
  elif [[ -n $commands && $count == 0 ]]; then
    _culvert_offer "$commands" "$cur"
  else
    _culvert_offer "$(_culvert_values "$path" "$((count + 1))")" "$cur"
  fi
}

complete -F _culvert culvert
`;
}

function tableLine(node: CommandNode): string {
  const names = node.below.flatMap(namesOf);
  const commands = names.length > 0 ? `commands='${names.join(' ')}' ` : '';
  return `    ${patternOf(node)}) ${commands}flags='${node.flags.flatMap(spellings).join(' ')}' ;;`;
}

const spellings = ({ long, short }: Flag): string[] => (short === undefined ? [long] : [short, long]);

/** Matches the command by each of its names, with the end of a pattern behind it. */
const patternOf = (node: CommandNode, end = "'"): string =>
  pathsOf(node)
    .map((path) => `'${path}${end}`)
    .join(' | ');

function valueLines(node: CommandNode): string[] {
  const line = (end: string, values: Values): string[] => {
    if (values === 'none') return [];
    return [`    ${patternOf(node, end)}) echo '${typeof values === 'string' ? values : values.join(' ')}' ;;`];
  };
  const ofFlags = node.flags.flatMap(({ long, values }) => line(` ${long}'`, values));
  const ofOperands = node.operands.flatMap(({ isRepeated, values }, index) =>
    line(isRepeated ? " '[0-9]*" : ` ${index + 1}'`, values),
  );
  return [...ofFlags, ...ofOperands];
}
