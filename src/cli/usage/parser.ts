/** commander's parser with answers of our own to names that it does not know: the right name, and no value, for that may be a secret. */
import { Command } from 'commander';
import { closestTo } from './closest.ts';
import { commandHint, flagHint } from './foreign-names.ts';

export class Parser extends Command {
  #takesMore = false;

  override allowExcessArguments(takesMore = true): this {
    this.#takesMore = takesMore;
    return super.allowExcessArguments(takesMore);
  }

  override createCommand(name?: string): Parser {
    return new Parser(name);
  }

  /** commander calls it for the first flag that it does not know. Not in its types; hints.test.ts notices when it is renamed. */
  unknownOption(given: string): void {
    const [flag = ''] = given.split('=', 1);
    this.error(`error: ${this.#unknownOptionText(flag, given !== flag)}`, { code: 'commander.unknownOption' });
  }

  /** The same for a word that is no command. */
  unknownCommand(): void {
    const [word = ''] = this.args;
    const known = this.commands.flatMap((command) => [command.name(), ...command.aliases()]);
    const text = `unknown command '${word}'${ending(commandHint(wordsOf(this), word), word, known)}`;
    this.error(`error: ${text}`, { code: 'commander.unknownCommand' });
  }

  /** The same for arguments too many, which may be secrets that a flag was forgotten for. */
  _excessArguments(given: readonly string[]): void {
    if (this.#takesMore) return;
    const most = this.registeredArguments.length;
    const hint = wordsOf(this) === 'api' ? '. Use `culvert api METHOD PATH`, such as `culvert api GET /tunnels`' : '';
    const text = `too many arguments for '${wordsOf(this)}': it takes ${most}, not ${given.length}${hint}`;
    this.error(`error: ${text}`, { code: 'commander.excessArguments' });
  }

  #unknownOptionText(flag: string, hasValue: boolean): string {
    const known = this.createHelp()
      .visibleOptions(this)
      .flatMap(({ long }) => long ?? []);
    if (hasValue && known.includes(flag)) return `option '${flag}' takes no value`;
    const opposite = `--no-${flag.slice(2)}`;
    const hint =
      flagHint(flag, this.name()) ?? (known.includes(opposite) ? `It is on. ${opposite} turns it off.` : undefined);
    return `unknown option '${flag}'${ending(hint, flag, known)}`;
  }
}

/** `tokens` of `culvert tokens`; empty for the program itself. */
export function wordsOf(command: Command): string {
  const above = command.parent;
  return above === null ? '' : `${wordsOf(above)} ${command.name()}`.trim();
}

function ending(hint: string | undefined, name: string, known: readonly string[]): string {
  if (hint !== undefined) return `. ${hint}`;
  const meant = closestTo(name, known);
  return meant === undefined ? '' : `\n(Did you mean ${meant}?)`;
}
