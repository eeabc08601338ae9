/**
 * `parts.js`, for every page under `/app/`: shows one part of the page at a time, says what went wrong, and reads the address. What it shows
 * is text, never markup.
 */
export const PARTS_SCRIPT = String.raw`export const main = document.querySelector('main');
export const here = new URL(location.href);
export const at = (id) => document.getElementById(id);

/** Reads a value out of the address and takes it from there, so that it stays in no history. */
export function takeFromAddress(name) {
  const value = here.searchParams.get(name);
  if (value === null) return undefined;
  here.searchParams.delete(name);
  history.replaceState(null, '', here);
  return value;
}

/** Shows this part in the place of all others. */
export function show(part) {
  for (const one of main.querySelectorAll('[data-part]')) one.hidden = one.id !== part;
  const fields = [...at(part).querySelectorAll('input')];
  (fields.find((field) => field.value === '') ?? fields[0] ?? at(part)).focus();
}

function put(id, text) {
  at(id).textContent = text ?? '';
  at(id).hidden = text === undefined;
}

/** Says what went wrong; without words, takes back what was said. */
export function say(problem) {
  put('problem', problem);
  put('notice');
}

/** Says what went well. */
export function tell(news) {
  put('problem');
  put('notice', news);
}

/** Runs a deed of the person; meanwhile no button takes another. */
async function busy(deed) {
  const controls = [...main.querySelectorAll('button, select')].filter((control) => !control.disabled);
  for (const control of controls) control.disabled = true;
  say();
  try {
    await deed();
  } finally {
    for (const control of controls) control.disabled = false;
  }
}

export function onSubmit(id, deed) {
  at(id).addEventListener('submit', (event) => {
    event.preventDefault();
    void busy(deed);
  });
}

export function onClick(id, deed) {
  at(id).addEventListener('click', () => void busy(deed));
}

export function onChange(id, deed) {
  at(id).addEventListener('change', () => void busy(deed));
}

/** What was typed in secret is of no more use. */
export function clearSecrets() {
  for (const field of main.querySelectorAll('[type=password], [autocomplete=one-time-code]')) field.value = '';
}

/** Why the server would not take this password, or undefined. It counts characters as the server does. */
export function passwordProblem(password) {
  const { length } = Array.from(password);
  return length >= 12 && length <= 256 ? undefined : 'A password has 12 to 256 characters; this one has ' + length + '.';
}

for (const button of main.querySelectorAll('[data-to]')) {
  button.addEventListener('click', () => {
    say();
    show(button.dataset.to);
  });
}

// Nobody should type the address twice: the forms share it.
const addresses = [...main.querySelectorAll('[data-email]')];
for (const field of addresses) {
  field.addEventListener('input', () => {
    for (const other of addresses) if (other !== field) other.value = field.value;
  });
}
`;
