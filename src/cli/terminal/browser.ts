/**
 * Opens a page in the person's browser, where there is one. Called by login.ts, which prints the address in any case: nothing here fails.
 */
import { spawn } from 'node:child_process';

/** The program that opens `url`, with its arguments; undefined without a screen. */
export function browserCommand(
  url: string,
  platform: NodeJS.Platform,
  env: NodeJS.ProcessEnv,
): readonly string[] | undefined {
  const hasScreen = Boolean(env['DISPLAY'] || env['WAYLAND_DISPLAY']);
  // A browser of the machine at the other end of an SSH session shows nothing to the person at this one.
  if ((env['SSH_CONNECTION'] || env['SSH_TTY']) && !hasScreen) return undefined;
  if (platform === 'darwin') return ['open', url];
  // Not `start`: that one is a word of the shell, which would read signs of the address as its own.
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler', url];
  return hasScreen ? ['xdg-open', url] : undefined;
}

/** Starts it and forgets it. */
export function openBrowser(url: string, env: NodeJS.ProcessEnv): void {
  const [file, ...args] = browserCommand(url, process.platform, env) ?? [];
  if (file === undefined) return;
  const child = spawn(file, args, { detached: true, stdio: 'ignore', env });
  child.on('error', () => undefined); // not installed: the address stands on the screen
  child.unref();
}
