// Users may give their own types and functions everyday names, also with `using namespace ladon`.

#include "expect.h"
#include "ladon/ladon.h"

using namespace ladon;

#define OWN(name) \
  struct name {   \
    int own = 1;  \
  };
OWN(Average)
OWN(Batch)
OWN(Block)
OWN(Config)
OWN(Container)
OWN(Dataset)
OWN(Dual)
OWN(Edge)
OWN(Element)
OWN(Entry)
OWN(Event)
OWN(Example)
OWN(Graph)
OWN(Hook)
OWN(Image)
OWN(Index)
OWN(Input)
OWN(Items)
OWN(Line)
OWN(Matrix)
OWN(Model)
OWN(Node)
OWN(Options)
OWN(Output)
OWN(Point)
OWN(Prediction)
OWN(Product)
OWN(Record)
OWN(Result)
OWN(Row)
OWN(Sample)
OWN(Score)
OWN(Sequence)
OWN(Solution)
OWN(State)
OWN(Step)
OWN(Sum)
OWN(Table)
OWN(Target)
OWN(Task)
OWN(Timer)
OWN(Token)
OWN(Trace)
OWN(Value)
OWN(Vector)
OWN(Weights)
OWN(Window)

double accuracy(double x) { return x; }
double apply(double x) { return x; }
double blocks(double x) { return x; }
double evaluate(double x) { return x; }
double load(double x) { return x; }
double part(double x) { return x; }
double step(double x) { return x; }
double tap(double x) { return x; }
double trace(double x) { return x; }
double train(double x) { return x; }

template <class... Own>
int count() {
  return (Own{}.own + ...);
}

int main() {
  const int types = count<Average, Batch, Block, Config, Container, Dataset, Dual, Edge, Element,
                          Entry, Event, Example, Graph, Hook, Image, Index, Input, Items, Line,
                          Matrix, Model, Node, Options, Output, Point, Prediction, Product, Record,
                          Result, Row, Sample, Score, Sequence, Solution, State, Step, Sum, Table,
                          Target, Task, Timer, Token, Trace, Value, Vector, Weights, Window>();
  const double functions = accuracy(1) + apply(1) + blocks(1) + evaluate(1) + load(1) + part(1) +
                           step(1) + tap(1) + trace(1) + train(1);
  expect_near("types", types, 47, 0);
  expect_near("functions", functions, 10, 0);
  expect_near("Ladon's own", sum(ones({3})).item(), 3, 0);
}
