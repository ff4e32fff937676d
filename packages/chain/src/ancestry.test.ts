import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ancestryOf, parentsFirst } from './ancestry.ts'

/** For each of up to twelve, which others are its parents. */
const graphs = fc
  .integer({ min: 1, max: 12 })
  .chain(size => fc.array(fc.array(fc.nat(size - 1), { maxLength: 3 }), { minLength: size, maxLength: size }))
/** Without cycles: parents only among those that a hidden order has before. */
const families = fc.tuple(graphs, fc.infiniteStream(fc.nat())).map(([graph, stream]) => {
  const rank = graph.map(() => stream.next().value as number)
  return graph.map((parents, i) =>
    parents.filter(parent => rank[parent]! < rank[i]! || (rank[parent] === rank[i] && parent < i))
  )
})

/** By the definition: grows until nothing is added. */
const closure = (place: number, graph: readonly (readonly number[])[]): Set<number> => {
  const found = new Set([place])
  for (let before = 0; before !== found.size; ) {
    before = found.size
    for (const each of [...found]) for (const parent of graph[each]!) found.add(parent)
  }
  return found
}

describe('parentsFirst', () => {
  it('has everyone once, after all of its parents', () => {
    fc.assert(
      fc.property(families, graph => {
        const order = parentsFirst(graph)!
        expect([...order].sort((a, b) => a - b)).toStrictEqual(graph.map((_, i) => i))
        for (const [i, parents] of graph.entries()) {
          for (const parent of parents) expect(order.indexOf(parent)).toBeLessThan(order.indexOf(i))
        }
      })
    )
  })

  it('changes nothing where parents are first already', () => {
    fc.assert(
      fc.property(graphs, graph => {
        const sorted = graph.map((parents, i) => parents.filter(parent => parent < i))
        expect(parentsFirst(sorted)).toStrictEqual(graph.map((_, i) => i))
      })
    )
  })

  it('is undefined exactly where some are ancestors of themselves', () => {
    fc.assert(
      fc.property(graphs, graph => {
        const cyclic = graph.some((parents, i) => parents.some(parent => closure(parent, graph).has(i)))
        expect(parentsFirst(graph) === undefined).toBe(cyclic)
      })
    )
  })
})

describe('ancestryOf', () => {
  it('is everyone that can be reached through parents', () => {
    fc.assert(
      fc.property(graphs, fc.nat(), (graph, pick) => {
        const place = pick % graph.length
        const found = ancestryOf(place, graph)
        expect(graph.flatMap((_, i) => (found[i] ? i : []))).toStrictEqual(
          [...closure(place, graph)].sort((a, b) => a - b)
        )
      })
    )
  })
})
