/** Checks an agent's settings file as `start` would read it, for `config check`. */
import { checkAgentFile, type TunnelSettings } from '../../config/agent.ts';
import { ConfigError } from '../../config/toml.ts';
import { specOf } from './tunnel.ts';
import { relayOf } from './udp.ts';

/** @throws ConfigError with a line for each mistake. */
export function checkAgentTunnels(file: string, cwd: string): void {
  const mistakes = checkAgentFile(file, cwd).flatMap(mistakeOf);
  if (mistakes.length > 0) throw new ConfigError(mistakes);
}

function mistakeOf(settings: TunnelSettings): string[] {
  try {
    if (settings.protocol === 'udp') relayOf(settings);
    else specOf(settings);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return [error.message];
    throw error;
  }
}
