import { type FifoColumn, type Order, isText } from "@/features/timing/fifos";

interface Props {
  column: FifoColumn;
  label: string;
  title: string;
  order: Order;
  onOrder(column: FifoColumn): void;
}

/** The head of a column that sorts its table. */
export function SortHead({ column, label, title, order, onOrder }: Props) {
  const on = order.column === column;
  const direction = order.descending ? "descending" : "ascending";
  return (
    <th scope="col" className={isText(column) ? "" : "num"} title={title} aria-sort={on ? direction : "none"}>
      <button type="button" className="sort" onClick={() => onOrder(column)}>
        {label}
        <span aria-hidden="true">{on ? (order.descending ? " ↓" : " ↑") : ""}</span>
      </button>
    </th>
  );
}
