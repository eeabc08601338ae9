/** Completion for zsh: a function for each command, around `_arguments`. */
import { allNodes, type CommandNode, type Flag, namesOf, type Operand, type Values } from './command-tree.ts';

/** The script: a file `_culvert` in a folder of `$fpath`, or text for `source` or `eval`. */
export function zshScript(root: CommandNode): string {
  return `#compdef culvert
# zsh completion for culvert. Made by \`culvert completion zsh\`.

${allNodes(root).map(functionOf).join('\n\n')}

# Loaded from a folder of fpath, the file is the function; sourced, it must register it.
if [[ $funcstack[1] == _culvert ]]; then
  _culvert "$@"
else
  compdef _culvert culvert
fi
`;
}

const nameOf = (words: readonly string[]): string => ['_culvert', ...words].join('-');

function functionOf(node: CommandNode): string {
  const specs = [...node.flags.map(flagSpec), ...node.operands.map(operandSpec)];
  if (node.below.length === 0) {
    const rest = specs.length === 0 ? ["'*: :'"] : specs;
    return `${nameOf(node.words)}() {\n  _arguments -s -S ${rest.map(onLine).join('')}\n}`;
  }
  // "(-)": behind the word of a command, its own flags hold.
  const all = [...specs, "'(-)1: :->command'", "'(-)*:: :->rest'"];
  const choices = node.below.flatMap(commandChoices);
  const cases = node.below.map((one) => `    ${namesOf(one).join('|')}) ${nameOf(one.words)} ;;`);
  return `${nameOf(node.words)}() {
  local context curcontext="$curcontext" state state_descr line
  typeset -A opt_args
  _arguments -C -s -S ${all.map(onLine).join('')} && return
  if [[ $state == command ]]; then
    local -a commands=(${choices.map((choice) => `\n      ${choice}`).join('')}
    )
    _describe -t commands command commands
    return
  fi
  case $line[1] in
${cases.join('\n')}
  esac
}`;
}

const onLine = (spec: string): string => ` \\\n    ${spec}`;

function commandChoices(node: CommandNode): string[] {
  return namesOf(node).map((name) => quoted(`${name}:${node.summary}`));
}

function flagSpec({ long, short, description, value, values }: Flag): string {
  const text = `[${description.replace(/[\\[\]]/g, '\\$&')}]`;
  const rest = value === undefined ? text : `=${text}:${escaped(value)}:${actionOf(values)}`;
  if (short === undefined) return quoted(`${long}${rest}`);
  return [short, long].map((name) => quoted(`(${short} ${long})${name}${rest}`)).join(' ');
}

function operandSpec({ name, isRepeated, isRequired, values }: Operand): string {
  const place = isRepeated ? '*' : '';
  return quoted(`${place}:${isRequired || isRepeated ? '' : ':'}${escaped(name)}:${actionOf(values)}`);
}

function actionOf(values: Values): string {
  if (values === 'none') return ' ';
  if (values === 'file') return '_files';
  return values === 'folder' ? '_files -/' : `(${values.join(' ')})`;
}

const escaped = (text: string): string => text.replaceAll(':', '\\:');
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
