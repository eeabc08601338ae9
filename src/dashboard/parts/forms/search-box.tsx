/** Finds rows of a list that is longer than people read through. */
import { TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';

/** A list of so many rows is read by eye. */
const MANY = 20;

interface SearchBoxProps {
  /** For those who can't see it: "Search networks". */
  readonly label: string;
  /** What is looked at: "Name or addresses". */
  readonly placeholder: string;
  /** How many rows there are without a search. */
  readonly among: number;
  /** How many are read by eye, where it is not the usual number. */
  readonly few?: number;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

export function SearchBox({ label, placeholder, among, few = MANY, value, onChange }: SearchBoxProps) {
  if (among <= few) return null;
  return (
    <TextInput
      aria-label={label}
      placeholder={placeholder}
      leftSection={<IconSearch size={16} />}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      maw={320}
    />
  );
}
