/** Completion for PowerShell 5.1 and later. */
import { allNodes, type CommandNode, type Flag, namesOf, pathsOf, type Values, valuedFlags } from './command-tree.ts';

/** The script: a table by command, and the block that PowerShell calls with the words so far. */
export function powershellScript(root: CommandNode): string {
  return `# PowerShell completion for culvert. Made by \`culvert completion powershell\`.

Register-ArgumentCompleter -Native -CommandName 'culvert', 'culvert.exe' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    # By command: its commands and its flags, each with what it does.
    $commands = @{
${allNodes(root)
  .filter(({ below }) => below.length > 0)
  .flatMap(commandEntries)
  .join('\n')}
    }
    $flags = @{
${allNodes(root).flatMap(flagEntries).join('\n')}
    }
    # By command and flag, or number of the argument: words, or the kind of path.
    $values = @{
${allNodes(root).flatMap(valueEntries).join('\n')}
    }
    $valued = @(${valuedFlags(root).map(quoted).join(', ')})

    $path = ''
    $flag = ''
    $count = 0
    $isEnd = $false
    $before = @($commandAst.CommandElements | Select-Object -Skip 1 | Where-Object { $_.Extent.EndOffset -lt $cursorPosition })
    foreach ($element in $before) {
        $word = $element.Extent.Text
        $next = "$path $word".Trim()
        if ($flag) { $flag = '' }
        elseif (-not $isEnd -and $word -eq '--') { $isEnd = $true }
        elseif (-not $isEnd -and $word.StartsWith('-')) { if ($valued -ccontains $word) { $flag = $word } }
        elseif ($count -eq 0 -and $commands.ContainsKey($path) -and $commands[$path].Contains($word)) { $path = $next }
        else { $count++ }
    }

    $found = @{}
    $kind = 'ParameterValue'
    if ($flag) { $found = $values["$path $flag"] }
    elseif (-not $isEnd -and $wordToComplete.StartsWith('-')) { $found = $flags[$path]; $kind = 'ParameterName' }
    elseif ($count -eq 0 -and $commands.ContainsKey($path)) { $found = $commands[$path] }
    else {
        $found = $values["$path $($count + 1)"]
        if (-not $found) { $found = $values["$path *"] }
    }
    if ($found -is [string]) {
        Get-ChildItem -Path "$wordToComplete*" -Directory:($found -eq 'folder') -ErrorAction SilentlyContinue | ForEach-Object {
            $name = Join-Path (Split-Path -Path $wordToComplete) $_.Name
            if ($name.Contains(' ')) { $name = "'$name'" }
            [System.Management.Automation.CompletionResult]::new($name, $_.Name, 'ProviderItem', $_.FullName)
        }
    } elseif ($found) {
        foreach ($name in $found.Keys) {
            if ($name.StartsWith($wordToComplete, [System.StringComparison]::Ordinal)) {
                [System.Management.Automation.CompletionResult]::new($name, $name, $kind, $found[$name])
            }
        }
    }
}
`;
}

/** An ordered table: the order is that of the help. */
const tableOf = (rows: readonly (readonly [string, string])[]): string =>
  `[ordered]@{ ${rows.map(([name, text]) => `${quoted(name)} = ${quoted(text)}`).join('; ')} }`;

const entry = (key: string, value: string): string => `        ${quoted(key)} = ${value}`;

function commandEntries(node: CommandNode): string[] {
  const rows = node.below.flatMap((one) => namesOf(one).map((name) => [name, one.summary] as const));
  return pathsOf(node).map((path) => entry(path, tableOf(rows)));
}

function flagEntries(node: CommandNode): string[] {
  const rows = node.flags.map(({ long, description }: Flag) => [long, description] as const);
  return pathsOf(node).map((path) => entry(path, tableOf(rows)));
}

function valueEntries(node: CommandNode): string[] {
  const made = (key: string, values: Values): string[] => {
    if (values === 'none') return [];
    const text = typeof values === 'string' ? quoted(values) : tableOf(values.map((value) => [value, value] as const));
    return pathsOf(node).map((path) => entry(`${path} ${key}`, text));
  };
  return [
    ...node.flags.flatMap(({ long, values }) => made(long, values)),
    ...node.operands.flatMap(({ isRepeated, values }, index) => made(isRepeated ? '*' : `${index + 1}`, values)),
  ];
}

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;
