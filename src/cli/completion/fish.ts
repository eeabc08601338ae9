/** Completion for fish: a line for each command, flag and value, each with the command after which it holds. */
import {
  allNodes,
  type CommandNode,
  type Flag,
  namesOf,
  type Operand,
  pathsOf,
  type Values,
  valuedFlags,
} from './command-tree.ts';

/** The script. `__culvert_at` tells whether the words before the cursor name a command, with so many arguments behind it. */
export function fishScript(root: CommandNode): string {
  const groups = allNodes(root).filter(({ below }) => below.length > 0);
  const next = groups.map(
    ({ words, below }) =>
      `        case ${quoted(words.join(' '))}\n            echo ${below.flatMap(namesOf).join(' ')}`,
  );
  return `# fish completion for culvert. Made by \`culvert completion fish\`.

# Words that may follow the command.
function __culvert_next
    switch "$argv"
${next.join('\n')}
    end
end

# Prints the command that the words before the cursor name, and how many arguments stand behind it.
function __culvert_place
    set -l path
    set -l count 0
    set -l is_value no
    set -l is_end no
    set -l words (commandline -opc)
    for word in $words[2..-1]
        if test $is_value = yes
            set is_value no
        else if test $is_end = no -a "$word" = --
            set is_end yes
        else if test $is_end = no; and string match -q -- '-*' $word
            contains -- $word ${valuedFlags(root).join(' ')}
            and set is_value yes
        else if test $count = 0; and contains -- $word (string split ' ' -- (__culvert_next $path))
            set -a path $word
        else
            set count (math $count + 1)
        end
    end
    echo "$path:$count"
end

function __culvert_at
    set -l place (string split : -- (__culvert_place))
    contains -- $place[1] $argv
end

function __culvert_argument
    contains -- (__culvert_place) $argv
end

complete -c culvert -f
${allNodes(root).flatMap(linesOf).join('\n')}
`;
}

function linesOf(node: CommandNode): string[] {
  const places = pathsOf(node);
  const after = (suffix: string): string => places.map((path) => `"${path}${suffix}"`).join(' ');
  const commands = node.below.flatMap((one) =>
    namesOf(one).map(
      (name) => `complete -c culvert -n '__culvert_argument ${after(':0')}' -a ${name} -d ${quoted(one.summary)}`,
    ),
  );
  const flags = node.flags.map((flag) => `complete -c culvert -n '__culvert_at ${after('')}' ${flagOf(flag)}`);
  const operands = node.operands.flatMap((operand, index) => operandLines(operand, index, after));
  return [...commands, ...flags, ...operands];
}

function flagOf({ long, short, description, value, values }: Flag): string {
  const names = [...(short === undefined ? [] : [`-s ${short.slice(1)}`]), `-l ${long.slice(2)}`];
  // -x: a value, and no file unless an action says so.
  const takes = value === undefined ? '' : ` ${values === 'file' ? '-r' : '-x'} ${actionOf(values)}`.trimEnd();
  return `${names.join(' ')}${takes} -d ${quoted(description)}`;
}

function operandLines({ isRepeated, values }: Operand, index: number, after: (suffix: string) => string): string[] {
  if (values === 'none') return [];
  const condition = isRepeated ? `__culvert_at ${after('')}` : `__culvert_argument ${after(`:${index}`)}`;
  return [`complete -c culvert -n '${condition}' ${actionOf(values)}`];
}

function actionOf(values: Values): string {
  if (values === 'none') return '';
  if (values === 'file') return '-F';
  return values === 'folder' ? "-a '(__fish_complete_directories)'" : `-a ${quoted(values.join(' '))}`;
}

const quoted = (text: string): string => `'${text.replace(/[\\']/g, '\\$&')}'`;
