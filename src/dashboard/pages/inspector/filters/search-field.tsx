/** The search field: a part of the path as it is typed, words such as status:404 with Enter. */
import { ActionIcon, CloseButton, Popover, Table, TextInput, UnstyledButton } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconInfoCircle, IconSearch } from '@tabler/icons-react';
import { type KeyboardEvent, type RefObject, useState } from 'react';
import type { Filter } from './filter.ts';
import { searched, WORDS } from './search-words.ts';

const TYPING_MS = 250;
const MAX_TEXT = 500;

interface SearchFieldProps {
  readonly path: string;
  readonly input: RefObject<HTMLInputElement | null>;
  /** A part of the path, as it is typed. */
  readonly onPath: (path: string) => void;
  /** Filters that were typed as words, and the path beside them. */
  readonly onWords: (filter: Filter) => void;
}

export function SearchField({ path, input, onPath, onWords }: SearchFieldProps) {
  const [typed, setTyped] = useState(path);
  const [problem, setProblem] = useState<string>();
  const tell = useDebouncedCallback(onPath, TYPING_MS);
  const [known, setKnown] = useState(path);
  // Another filter by another way than by typing: a link, or all of them cleared.
  if (known !== path) {
    setKnown(path);
    setTyped(path);
  }
  const found = searched(typed);
  const change = (text: string): void => {
    setTyped(text);
    setProblem(undefined);
    const { hasWords } = searched(text);
    // Half a word is no part of a path: words wait for Enter.
    if (hasWords) tell.cancel();
    else tell(text.trim());
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') input.current?.blur();
    if (event.key !== 'Enter' || !found.hasWords) return;
    event.preventDefault();
    setProblem(found.problem);
    if (found.problem !== undefined) return;
    setTyped(found.filter.path ?? '');
    onWords(found.filter);
  };
  const add = (example: string): void => {
    change(example.startsWith('/') ? example : `${typed} ${example}`.trimStart());
    input.current?.focus();
  };
  return (
    <TextInput
      ref={input}
      aria-label="Search requests"
      placeholder="Path, or status:404"
      className="culvert-filters-path"
      maxLength={MAX_TEXT}
      leftSection={<IconSearch size={16} aria-hidden />}
      rightSectionWidth={typed === '' ? 36 : 64}
      rightSection={
        <>
          {typed !== '' && <CloseButton aria-label="Clear search" onClick={() => change('')} />}
          <WordsHelp onWord={add} />
        </>
      }
      {...(problem !== undefined && { error: problem })}
      {...(problem === undefined && found.hasWords && { description: 'Press Enter to apply.' })}
      inputWrapperOrder={['input', 'description', 'error']}
      value={typed}
      onChange={({ currentTarget }) => change(currentTarget.value)}
      onKeyDown={onKeyDown}
    />
  );
}

/** The words, each to be taken over by a click. */
function WordsHelp({ onWord }: { readonly onWord: (example: string) => void }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-start" width={380} trapFocus>
      <Popover.Target>
        <ActionIcon variant="subtle" color="gray" aria-label="Search words" onClick={() => setOpen(!isOpen)}>
          <IconInfoCircle size={16} />
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown maw="calc(100vw - 24px)">
        <Table aria-label="Search words" className="culvert-words">
          <Table.Tbody>
            {WORDS.map(({ example, what }) => (
              <Table.Tr key={example}>
                <Table.Th scope="row">
                  <UnstyledButton
                    className="culvert-mono"
                    onClick={() => {
                      setOpen(false);
                      onWord(example);
                    }}
                  >
                    {example}
                  </UnstyledButton>
                </Table.Th>
                <Table.Td>{what}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Popover.Dropdown>
    </Popover>
  );
}
