/** The script of the documentation's pages: search by the prebuilt index, and buttons that copy commands. The pages work without it. */
import { search, type SearchEntry } from './search.ts';

const input = document.querySelector<HTMLInputElement>('#search');
const list = document.querySelector<HTMLUListElement>('#results');
const count = document.querySelector<HTMLElement>('#found');

if (input !== null && list !== null && count !== null) startSearch({ input, list, count });
for (const block of document.querySelectorAll<HTMLPreElement>('pre')) addCopyButton(block);

interface SearchParts {
  readonly input: HTMLInputElement;
  readonly list: HTMLUListElement;
  /** Read out by screen readers. */
  readonly count: HTMLElement;
}

function startSearch({ input, list, count }: SearchParts): void {
  let index: Promise<readonly SearchEntry[]> | undefined;
  const load = async (): Promise<readonly SearchEntry[]> => {
    const response = await fetch(input.dataset['index'] ?? '');
    if (!response.ok) throw new Error(`the search index: ${response.status}`);
    return (await response.json()) as readonly SearchEntry[];
  };
  const show = async (): Promise<void> => {
    const query = input.value;
    try {
      const found = search(await (index ??= load()), query);
      if (input.value !== query) return;
      list.replaceChildren(...found.map(resultOf));
      list.hidden = found.length === 0;
      count.textContent = query.trim() === '' ? '' : found.length === 0 ? 'No results' : `${found.length} results`;
    } catch {
      index = undefined;
      count.textContent = 'Search is not available. Reload the page.';
    }
  };
  input.addEventListener('input', () => void show());
  document.addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof HTMLInputElement;
    if (event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      input.focus();
    } else if (event.key === 'Escape') {
      input.value = '';
      void show();
    } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') move(event, input, list);
  });
}

/** Arrows lead from the field through the results and back. */
function move(event: KeyboardEvent, input: HTMLInputElement, list: HTMLUListElement): void {
  const stops = [input, ...list.querySelectorAll('a')];
  const here = stops.findIndex((stop) => stop === document.activeElement);
  if (here < 0 || stops.length === 1) return;
  event.preventDefault();
  const next = here + (event.key === 'ArrowDown' ? 1 : -1);
  stops[Math.min(Math.max(next, 0), stops.length - 1)]?.focus();
}

function resultOf({ url, title, heading }: SearchEntry): HTMLLIElement {
  const item = document.createElement('li');
  const link = document.createElement('a');
  link.href = url === '' ? './' : url;
  link.textContent = heading === '' ? title : heading;
  if (heading !== '') {
    const page = document.createElement('span');
    page.textContent = title;
    link.append(' ', page);
  }
  item.append(link);
  return item;
}

/** Copies the commands of a console without prompts and output, and other code as it stands. */
function addCopyButton(block: HTMLPreElement): void {
  if (!('clipboard' in navigator)) return; // plain http from another machine
  const code = block.textContent;
  const commands = code.split('\n').filter((line) => line.startsWith('$ '));
  const text = commands.length > 0 ? commands.map((line) => line.slice(2)).join('\n') : code.trimEnd();
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = 'Copy';
  button.addEventListener('click', () => {
    const done = (): void => {
      button.textContent = 'Copied';
      setTimeout(() => (button.textContent = 'Copy'), 2_000);
    };
    navigator.clipboard.writeText(text).then(done, () => (button.textContent = 'Select and copy it yourself'));
  });
  block.parentElement?.append(button);
}
