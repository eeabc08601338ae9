/**
 * The live screen of an agent on a terminal: draws screen-frame.ts when something changed, at most twelve times a second, and once
 * a second for what counts by itself.
 */
import { createLogUpdate } from 'log-update';
import type { AgentEvent, AgentView, RequestView } from '../../agent/events.ts';
import type { AgentOutput } from './agent-output.ts';
import { hasColor, type Output } from '../terminal/io.ts';
import { harmless } from '../terminal/paint.ts';
import { renderFrame } from './screen-frame.ts';

/** A burst of requests redraws no faster than eyes follow. */
const REDRAW_MS = 80;
const TICK_MS = 1_000;
const KEEP_REQUESTS = 50;

export interface ScreenOptions {
  readonly stdout: Output;
  readonly env: NodeJS.ProcessEnv;
  readonly warning: string | undefined;
  /** The terminal is gone. */
  readonly onLost: () => void;
}

export class Screen implements AgentOutput {
  readonly #stdout: Output;
  readonly #update: ReturnType<typeof createLogUpdate>;
  readonly #color: boolean;
  readonly #unicode: boolean;
  readonly #warning: string | undefined;
  readonly #onLost: () => void;
  readonly #draw = (): void => this.#drawNow();
  #requests: RequestView[] = [];
  #view: (() => AgentView) | undefined;
  #notice: string | undefined;
  /** In the settings file, as it is now. */
  #mistake: string | undefined;
  #page: string | undefined;
  #tick: NodeJS.Timeout | undefined;
  #due: NodeJS.Timeout | undefined;

  constructor(options: ScreenOptions) {
    const { stdout, env } = options;
    this.#stdout = stdout;
    this.#update = createLogUpdate(stdout, { showCursor: true });
    this.#color = hasColor(stdout, env);
    this.#unicode = /utf-?8/i.test(env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || 'utf8');
    this.#warning = options.warning;
    this.#onLost = options.onLost;
  }

  start(view: () => AgentView): void {
    this.#view = view;
    this.#stdout.on('resize', this.#draw);
    this.#stdout.on('error', this.#onLost);
    this.#tick = setInterval(this.#draw, TICK_MS);
    this.#drawNow();
  }

  onEvent(event: AgentEvent): void {
    if (event.kind === 'request') {
      this.#requests.push(event.request);
      if (this.#requests.length > KEEP_REQUESTS * 2) this.#requests = this.#requests.slice(-KEEP_REQUESTS);
    }
    if (event.kind === 'inspector_online') this.#page = event.url;
    if (event.kind === 'settings_rejected') this.#mistake = `Settings not reloaded: ${event.reason}`;
    if (event.kind === 'settings_reloaded') this.#mistake = undefined;
    if (event.kind === 'draining') this.#notice = 'Press Ctrl-C again to stop immediately';
    this.#due ??= setTimeout(this.#draw, REDRAW_MS);
  }

  end(): void {
    clearInterval(this.#tick);
    clearTimeout(this.#due);
    this.#stdout.off('resize', this.#draw);
    this.#notice = '';
    this.#drawNow();
    this.#update.done();
  }

  #drawNow(): void {
    clearTimeout(this.#due);
    this.#due = undefined;
    const { columns = 0, rows = 0 } = this.#stdout;
    if (this.#view === undefined || columns < 1 || rows < 1) return;
    const input = {
      view: this.#view(),
      requests: this.#requests,
      now: Date.now(),
      warning: this.#mistake === undefined ? this.#warning : harmless(this.#mistake),
      page: this.#page,
      notice: this.#notice,
    };
    this.#update(renderFrame(input, { columns, rows, color: this.#color, unicode: this.#unicode }));
  }
}
