/** The search box: shows the readings of the text as you type. */
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { paths } from '../paths.ts'
import { go, place } from '../router.ts'
import { classify, describe } from './classify.ts'

export const SearchBox = () => {
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState(-1)
  const [open, setOpen] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  const id = useId()
  const readings = classify(text)
  const isOpen = open && readings.length > 0

  useEffect(() => {
    const focus = (event: KeyboardEvent): void => {
      const isTyping = event.target instanceof HTMLElement && event.target.closest('input, textarea, select')
      if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return
      event.preventDefault()
      input.current?.focus()
    }
    addEventListener('keydown', focus)
    return () => removeEventListener('keydown', focus)
  }, [])
  // A new view resets the box.
  const { path } = place.value
  useLayoutEffect(() => {
    // Unless a person is typing in it.
    if (document.activeElement === input.current) return
    setOpen(false)
    if (path !== '/explore/search') setText('')
  }, [path])

  const take = (index: number): void => {
    const reading = readings[index]
    setOpen(false)
    input.current?.blur()
    if (reading) go(reading.href, { searched: { text: text.trim(), kind: reading.kind } })
    else if (text.trim() !== '') go(paths.search(text.trim()))
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault()
      setOpen(true)
      const step = event.key === 'ArrowDown' ? 1 : -1
      setChosen(((chosen + step + 1 + readings.length + 1) % (readings.length + 1)) - 1)
    } else if (event.key === 'Escape') {
      setOpen(false)
      setChosen(-1)
    }
  }
  return (
    <search class="search">
      <form
        onSubmit={event => {
          event.preventDefault()
          take(chosen)
        }}
      >
        <label class="hidden" for={`${id}-input`}>
          Search
        </label>
        <input
          ref={input}
          id={`${id}-input`}
          type="text"
          enterkeyhint="search"
          role="combobox"
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          placeholder="Transaction, output, address, token, key…"
          aria-expanded={isOpen}
          aria-controls={`${id}-list`}
          aria-autocomplete="list"
          aria-activedescendant={isOpen && chosen >= 0 ? `${id}-${chosen}` : undefined}
          value={text}
          onInput={event => {
            setText(event.currentTarget.value)
            setChosen(-1)
            setOpen(true)
          }}
          onFocus={() => setOpen(true)}
          onBlur={() => setOpen(false)}
          onKeyDown={onKeyDown}
        />
        <span class="kbd" aria-hidden="true">
          /
        </span>
      </form>
      <div id={`${id}-list`} role="listbox" aria-label="Possible readings" hidden={!isOpen}>
        {readings.map((reading, i) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents lint/a11y/useFocusableInteractive: the keys are those of the box.
          <div
            key={reading.kind}
            id={`${id}-${i}`}
            role="option"
            aria-selected={i === chosen}
            onPointerDown={event => event.preventDefault()}
            onClick={() => take(i)}
          >
            {describe(reading)}
          </div>
        ))}
      </div>
    </search>
  )
}
